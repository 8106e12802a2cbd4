import { clientGone, Database, forClient, ReadEnded, SharedReads } from '#libs/postgres';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { until } from '../support/until.js';

const [A, B] = ['a', 'b'].map((owner) => ({ tenant: '', owner })) as [Caller, Caller];
type Caller = { tenant: string; owner: string };

/** Longer than any test: it ends because somebody ends it. */
const LONG = { text: 'SELECT pg_sleep(600)' };
const SHORT = { text: 'SELECT 1 AS one' };

let server: TestDatabase;
let database: Database;

beforeEach(async () => {
  server = await freshDatabase({ empty: true });
  database = await Database.connectAndMigrate({ url: server.url, migrations: [] });
});

afterEach(async () => {
  await server.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND query LIKE '%pg_sleep%' AND pid <> pg_backend_pid()`,
  );
  await database.close();
  await server.drop();
});

it.each([40, 1_000])(
  '%d lists of one caller keep neither the lists of another nor any other query waiting',
  async (count) => {
    const clients = Array.from({ length: count }, () => client());
    const lists = clients.map(({ run }) =>
      run(() => database.reads.queryInTurn(A, LONG)).catch((error: unknown) => error),
    );
    await until(async () => (await sleeping()) === 2, { what: 'the two lists that a caller has at a time' });
    expect((await database.reads.queryInTurn(B, SHORT)).rows).toEqual([{ one: 1 }]);
    expect((await database.pool.query(SHORT)).rows).toEqual([{ one: 1 }]);
    for (const { leave } of clients) leave();
    for (const error of await Promise.all(lists)) expect(error).toBeInstanceOf(ReadEnded);
    await until(async () => (await sleeping()) === 0, { what: 'the lists to be canceled' });
    expect((await database.reads.queryInTurn(A, SHORT)).rows).toEqual([{ one: 1 }]);
  },
);

it('long logs of one caller keep places for those of another, and nothing else waits for them', async () => {
  const held = Promise.withResolvers<number>();
  const logs = Array.from({ length: 1_000 }, () => database.reads.inTurn(A, () => held.promise));
  expect(await database.reads.inTurn(B, async () => 1)).toBe(1);
  expect((await database.reads.queryInTurn(A, SHORT)).rows).toEqual([{ one: 1 }]);
  held.resolve(2);
  expect(new Set(await Promise.all(logs))).toEqual(new Set([2]));
});

it('a read in the order of an index leaves the settings of its session unchanged, also if it fails', async () => {
  const settings = { text: `SELECT current_setting('enable_sort') || current_setting('enable_bitmapscan') AS now` };
  expect((await database.reads.queryInIndexOrder(A, settings)).rows).toEqual([{ now: 'offoff' }]);
  expect((await database.reads.queryInTurn(A, settings)).rows).toEqual([{ now: 'onon' }]);
  await expect(database.reads.queryInIndexOrder(A, { text: 'SELECT 1 / 0' })).rejects.toThrow('division by zero');
  expect((await database.reads.queryInTurn(A, settings)).rows).toEqual([{ now: 'onon' }]);
});

it('a list ends in the database as soon as its client has gone, and its caller has the place again', async () => {
  const leaving = client();
  const list = leaving.run(() => database.reads.queryInTurn(A, LONG)).catch((error: unknown) => error);
  await until(async () => (await sleeping()) === 1, { what: 'the list to begin' });
  leaving.leave();
  expect(await list).toMatchObject({ name: 'ClientLeft' });
  await until(async () => (await sleeping()) === 0, { what: 'the list to be canceled' });
  // None of those that follow meets a cancel that was for another.
  for (let index = 0; index < 20; index += 1)
    expect((await database.reads.queryInTurn(A, SHORT)).rows).toEqual([{ one: 1 }]);
});

it('a list whose client has gone already never begins', async () => {
  const gone = client();
  gone.leave();
  await expect(gone.run(() => database.reads.queryInTurn(A, LONG))).rejects.toMatchObject({ name: 'ClientLeft' });
  expect(await sleeping()).toBe(0);
});

it('a statement that takes too long ends in a sentence that says what to do', async () => {
  const pool = database.tunedPool('quick', 1, { statement_timeout: '50' });
  const reads = new SharedReads(pool, database.pool);
  await expect(reads.queryInTurn(A, LONG)).rejects.toThrow(/^The query took longer than 60 seconds; narrow it down/);
  await expect(reads.queryInTurn(A, LONG)).rejects.toBeInstanceOf(ReadEnded);
});

it('a list that has no turn in time ends in a sentence', async () => {
  const limits = { places: 1, placesOfACaller: 1, placesOfATenant: 1, waitMs: 1 };
  const reads = new SharedReads(database.tunedPool('lists', 1, {}), database.pool, limits);
  const { run, leave } = client();
  const first = run(() => reads.queryInTurn(A, LONG)).catch(() => undefined);
  await until(async () => (await sleeping()) === 1, { what: 'the first list' });
  await expect(reads.queryInTurn(B, SHORT)).rejects.toThrow(
    'Too many lists and searches are under way; try again later',
  );
  leave();
  await first;
});

it('what is done for no client has nobody who could leave', () => {
  expect(clientGone()).toBeUndefined();
});

interface Client {
  run<T>(work: () => Promise<T>): Promise<T>;
  leave(): void;
}

function client(): Client {
  const listeners: (() => void)[] = [];
  let gone = false;
  return {
    run: (work) => forClient((listener) => !gone && listeners.push(listener) > 0, work),
    leave: () => {
      gone = true;
      for (const listener of listeners) listener();
    },
  };
}

async function sleeping(): Promise<number> {
  const rows = await server.query(
    `SELECT FROM pg_stat_activity
     WHERE state = 'active' AND query = 'SELECT pg_sleep(600)' AND datname = current_database()`,
  );
  return rows.length;
}
