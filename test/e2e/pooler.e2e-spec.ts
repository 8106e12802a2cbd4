import { firstText, rest, sendTask, stream } from '../support/a2a.js';
import { startParley, startRefused } from '../support/parley.js';
import { describeWithPgBouncer, PgBouncer } from '../support/pg-bouncer.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { ids, range } from '../support/sse.js';
import { Api, linear, output, ruled, says, script, unique } from '../support/workflow.js';

const WITHIN = 180_000;

/** Work of every kind, at two replicas: what one of them does the other one shows. */
async function work(first: string, second: string): Promise<void> {
  const [one, two] = [new Api(first), new Api(second)];
  const { name } = await one.save({
    name: unique('pooled'),
    nodes: [
      script('quick', ...says('hello')),
      ruled('asks', [{ when: { turn: 1 }, steps: [{ ask: '?' }] }], says('bye')),
    ],
    edges: [],
  });
  const tasks = await Promise.all(range(1, 60).map((n) => sendTask((n % 2 ? one : two).base(name, 'quick'), 'x')));
  expect(new Set(tasks.map((task) => firstText(task)))).toEqual(new Set(['hello']));
  const asking = await sendTask(one.base(name, 'asks'), 'x');
  const frames = await (await stream(two.base(name, 'asks'), 'y', { fields: { taskId: asking.id } })).all();
  expect(ids(frames.filter(({ id }) => id !== undefined)).at(-1)).toBeGreaterThan(2);
  const config = { url: 'http://127.0.0.1:9/', taskId: asking.id };
  const made = await rest(one.base(name, 'asks'), 'POST', `/tasks/${asking.id}/pushNotificationConfigs`, {
    body: config,
  });
  expect({ status: made.status, body: made.body }).toMatchObject({ status: 200 });
  const flow = linear(unique('flow'), script('a', ...says('a')), script('b', ...says('b')), output('out'));
  await two.save(flow);
  const runs = await Promise.all(range(1, 10).map(() => one.start(flow.name)));
  const ended = await Promise.all(runs.map((run) => two.ended(run, WITHIN)));
  expect(new Set(ended.map(({ status }) => status))).toEqual(new Set(['completed']));
}

describeWithPgBouncer('behind PgBouncer', () => {
  let database: TestDatabase;
  let pooler: PgBouncer;

  beforeEach(async () => {
    // Without a schema: a start that is refused must not have made one.
    database = await freshDatabase({ empty: true });
  });

  afterEach(async () => {
    await pooler?.stop();
    await database?.drop();
  });

  const tables = async (): Promise<unknown[]> =>
    database.query(`SELECT tablename FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`);

  it('as DATABASE_URL, pooling transactions: the start is refused with a sentence, and nothing is changed', async () => {
    pooler = await PgBouncer.start(database.url, 'transaction');
    const { code, logs } = await startRefused({ databaseUrl: pooler.url, within: WITHIN });
    expect(logs).toMatch(/^DATABASE_URL: .*LISTEN.*DATABASE_POOL_URL$/m);
    expect(logs.trim().split('\n')).toHaveLength(1);
    expect(code).toBe(1);
    expect(await tables()).toEqual([]);
  });

  it('as DATABASE_URL, pooling sessions: it works', async () => {
    pooler = await PgBouncer.start(database.url, 'session');
    const one = await startParley({ databaseUrl: pooler.url, within: WITHIN });
    try {
      await work(one.url, one.url);
      expect(one.logs()).not.toMatch(/"level":(40|50|60)/);
    } finally {
      await one.stop();
    }
  });

  it.each(['transaction', 'session'] as const)(
    'as DATABASE_POOL_URL, pooling by %s: plain queries go through it, and two replicas work',
    async (mode) => {
      pooler = await PgBouncer.start(database.url, mode);
      const options = { databaseUrl: database.url, env: { DATABASE_POOL_URL: pooler.url }, within: WITHIN };
      const one = await startParley(options);
      const two = await startParley(options);
      try {
        const before = await pooler.statements();
        await work(one.url, two.url);
        expect((await pooler.statements()) - before).toBeGreaterThan(50);
        for (const { logs } of [one, two]) expect(logs()).not.toMatch(/prepared statement|"level":"(error|fatal)"/);
        const rows = await database.query<{ name: string }>(
          `SELECT DISTINCT regexp_replace(application_name, '^parley:[0-9]+:~[0-9a-f]+', 'parley') AS name
           FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'parley:%' ORDER BY 1`,
        );
        expect(rows.map(({ name }) => name)).toEqual(expect.arrayContaining(['parley:journal', 'parley:replica']));
      } finally {
        await Promise.all([one.stop(), two.stop()]);
      }
    },
  );

  it('as DATABASE_POOL_URL, pooling statements: the start is refused with a sentence', async () => {
    pooler = await PgBouncer.start(database.url, 'statement');
    const options = { databaseUrl: database.url, env: { DATABASE_POOL_URL: pooler.url }, within: WITHIN };
    const { code, logs } = await startRefused(options);
    expect(logs).toMatch(/^DATABASE_POOL_URL: .*transactions/m);
    expect(code).toBe(1);
    expect(await tables()).toEqual([]);
  });

  it('as DATABASE_POOL_URL of another database: the start is refused with a sentence', async () => {
    const other = await freshDatabase({ empty: true });
    try {
      pooler = await PgBouncer.start(other.url, 'transaction');
      const options = { databaseUrl: database.url, env: { DATABASE_POOL_URL: pooler.url }, within: WITHIN };
      const { code, logs } = await startRefused(options);
      expect(logs).toMatch(/^DATABASE_POOL_URL: is not the database of DATABASE_URL$/m);
      expect(code).toBe(1);
      expect(await tables()).toEqual([]);
    } finally {
      await pooler.stop();
      await other.drop();
    }
  });
});
