import type { Database } from './database.js';
import { inTransaction } from './transaction.js';

/**
 * Creates a fake database. `asked` records the statements of its sessions; `released` records for each released session
 * if it was released as broken.
 */
function fakeDatabase(): { database: Database; asked: string[]; released: boolean[] } {
  const asked: string[] = [];
  const released: boolean[] = [];
  const client = {
    on: () => client,
    off: () => client,
    query: async (text: string) => void asked.push(text.split(';')[0]!),
    release: (broken: boolean) => void released.push(broken),
  };
  return { database: { pool: { connect: async () => client } } as unknown as Database, asked, released };
}

const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED';
const failure = (code: string): Error => Object.assign(new Error(code), { code });

describe('inTransaction', () => {
  it('does its work again where PostgreSQL gave it up to end a deadlock', async () => {
    const { database, asked, released } = fakeDatabase();
    const outcomes = [failure('40P01'), failure('40001'), 'done'];
    const done = await inTransaction(database, async () => {
      const outcome = outcomes.shift();
      if (outcome instanceof Error) throw outcome;
      return outcome;
    });
    expect(done).toBe('done');
    expect(asked).toEqual([BEGIN, 'ROLLBACK', BEGIN, 'ROLLBACK', BEGIN, 'COMMIT']);
    expect(released).toEqual([false, false, false]);
  });

  it('gives up in the end, and at once for any other error', async () => {
    for (const [code, begun] of [
      ['40P01', 5],
      ['23505', 1],
    ] as const) {
      const { database, asked } = fakeDatabase();
      await expect(inTransaction(database, () => Promise.reject(failure(code)))).rejects.toThrow(code);
      expect(asked.filter((it) => it === BEGIN)).toHaveLength(begun);
    }
  });
});
