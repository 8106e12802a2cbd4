import { installationTag } from './installation.js';

/** Creates a database that answers only the queries for its installation. */
const databaseWith = (stored: { id: string; server: string | null; database: string }) => ({
  query: async (text: string) => ({
    rows: [text.includes('FROM installation') ? stored : { server: '1', database: '2' }],
  }),
});
const tagOf = (stored: Parameters<typeof databaseWith>[0]): Promise<string> =>
  installationTag(databaseWith(stored) as never);

describe('the tag of an installation', () => {
  it('stays while the database does, and is another one in a copy that a service has adopted', async () => {
    const original = { id: 'a', server: '1', database: '16385' };
    const tag = await tagOf(original);
    expect(tag).toMatch(/^[\da-f]{8}$/);
    expect(await tagOf({ ...original })).toBe(tag);
    for (const copy of [{ server: '2' }, { database: '16386' }, { id: 'b' }])
      expect(await tagOf({ ...original, ...copy })).not.toBe(tag);
  });
});
