import fc from 'fast-check';
import pg from 'pg';
import { BinaryArray } from '../../libs/tasks/src/binary-array.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';

let server: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  server = await freshDatabase({ empty: true });
  client = new pg.Client({ connectionString: server.url });
  await client.connect();
});

afterAll(async () => {
  await client.end();
  await server.drop();
});

async function read(type: string, array: BinaryArray): Promise<unknown[]> {
  const { rows } = await client.query<{ value: unknown }>(
    `SELECT value::text FROM unnest($1::${type}[]) WITH ORDINALITY AS it (value, place) ORDER BY place`,
    [array.toBuffer()],
  );
  return rows.map(({ value }) => value);
}

describe('BinaryArray is read by PostgreSQL', () => {
  it('as the texts that were added, of any length', async () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 400 }).filter((it) => !it.includes('\u0000'));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.option(text), { maxLength: 40 }), async (values) => {
        const array = new BinaryArray('text');
        for (const value of values) array.optional(value ?? undefined);
        expect(await read('text', array)).toEqual(values);
      }),
      { numRuns: 50 },
    );
  });

  it('as the JSON that was added, to the letter', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.json(), { maxLength: 20 }), async (values) => {
        const array = new BinaryArray('json');
        for (const value of values) array.text(value);
        expect(await read('json', array)).toEqual(values);
      }),
      { numRuns: 50 },
    );
  });

  it('as integers, booleans and points in time', async () => {
    const integers = new BinaryArray('integer');
    for (const value of [0, 1, -1, 2_147_483_647]) integers.integer(value);
    expect(await read('int', integers)).toEqual(['0', '1', '-1', '2147483647']);
    const booleans = new BinaryArray('boolean');
    for (const value of [true, false]) booleans.boolean(value);
    expect(await read('boolean', booleans)).toEqual(['true', 'false']);
    await client.query(`SET TIME ZONE 'UTC'`);
    const times = new BinaryArray('timestamp');
    times.timestamp(new Date('2026-11-21T22:34:35.123Z'));
    times.timestamp(new Date('1999-12-31T23:59:59.999Z'));
    expect(await read('timestamptz', times)).toEqual(['2026-11-21 22:34:35.123+00', '1999-12-31 23:59:59.999+00']);
  });
});
