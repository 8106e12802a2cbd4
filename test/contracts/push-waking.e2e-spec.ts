import { JOB_MIGRATIONS, type Jobs } from '#libs/job-queue';
import type { Database, ReplicaLife } from '#libs/postgres';
import { PUSH_MIGRATIONS, PushQueues, PushSessions, PushWaker } from '#libs/push';
import { openTaskDatabase } from './task-database.js';
import type { TestDatabase } from '../support/postgres.js';

/** Far more origins than a PostgreSQL with its default settings has locks for. */
const TASKS = 1_500;
const WEBHOOKS = 10;

let server: TestDatabase;
let database: Database;

beforeAll(async () => {
  ({ server, database } = await openTaskDatabase([...JOB_MIGRATIONS, ...PUSH_MIGRATIONS]));
});

afterAll(async () => {
  await database.close();
  await server.drop();
});

beforeEach(async () => {
  await server.query('TRUNCATE task, push_config, push_waking CASCADE; DELETE FROM graphile_worker._private_jobs');
});

it('one statement ends any number of Tasks with webhooks at any number of origins, with one job and no lock', async () => {
  await tasks('a', TASKS, WEBHOOKS);
  const client = await database.pool.connect();
  try {
    await client.query('BEGIN');
    await client.query('UPDATE task SET last_sequence = 2');
    const { rows } = await client.query(`
      SELECT (SELECT count(*)::int FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory') AS locks,
             (SELECT count(*)::int FROM push_waking) AS waking,
             (SELECT count(*)::int FROM graphile_worker.jobs) AS jobs,
             (SELECT count(*)::int FROM push_config WHERE scheduled) AS scheduled`);
    expect(rows).toEqual([{ locks: 0, waking: TASKS, jobs: 1, scheduled: 0 }]);
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
});

it('every webhook of every Task is woken in portions, and what was woken is gone', async () => {
  await tasks('a', 30, WEBHOOKS);
  await tasks('b', 3, 2);
  await server.query('UPDATE task SET last_sequence = 2');
  await waker().wakeAll(new AbortController().signal);
  expect(await counts()).toEqual({ waking: 0, scheduled: 30 * WEBHOOKS + 3 * 2 });
});

it('the first portion has every caller, however many Tasks of another one have waited longer', async () => {
  await tasks('a', 500, 1);
  for (const owner of ['b', 'c']) await tasks(owner, 1, 1);
  await server.query(`UPDATE task SET last_sequence = 2 WHERE owner = 'a'`);
  await server.query(`UPDATE task SET last_sequence = 2 WHERE owner <> 'a'`);
  expect(await waker().wakePortion()).toMatchObject({ owner: 'c' });
  expect(await scheduledOwners()).toEqual(['a', 'b', 'c']);
});

it('callers beyond a portion have their turn before the first ones have another', async () => {
  const owners = ['a', 'b', 'c', 'd', 'e', 'f'];
  for (const owner of owners) await tasks(owner, 50, 1);
  await server.query('UPDATE task SET last_sequence = 2');
  const portions = waker();
  const last = await portions.wakePortion();
  expect(await scheduledOwners()).not.toEqual(owners);
  await portions.wakePortion(last);
  expect(await scheduledOwners()).toEqual(owners);
});

it('two processes that wake at a time wake each webhook once', async () => {
  await tasks('a', 60, 2);
  await server.query('UPDATE task SET last_sequence = 2');
  const { signal } = new AbortController();
  await Promise.all([waker().wakeAll(signal), waker().wakeAll(signal)]);
  expect(await counts()).toEqual({ waking: 0, scheduled: 120 });
  expect(await server.query('SELECT DISTINCT turn FROM push_config')).toEqual([{ turn: 1 }]);
});

it('a portion that fails leaves what it took for the next one', async () => {
  await tasks('a', 2, 1);
  await server.query('UPDATE task SET last_sequence = 2');
  await server.query(`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not now'; END $$;
    CREATE TRIGGER refuse BEFORE UPDATE ON push_config FOR EACH ROW EXECUTE FUNCTION refuse()`);
  await expect(waker().wakeAll(new AbortController().signal)).rejects.toThrow('not now');
  await server.query('DROP TRIGGER refuse ON push_config; DROP FUNCTION refuse');
  expect(await counts()).toEqual({ waking: 2, scheduled: 0 });
  await waker().wakeAll(new AbortController().signal);
  expect(await counts()).toEqual({ waking: 0, scheduled: 2 });
});

function waker(): PushWaker {
  const sessions = new PushSessions(database);
  return new PushWaker(sessions, new PushQueues(sessions, { onDeath: () => undefined } as unknown as ReplicaLife), {
    registerHandler: () => undefined,
  } as unknown as Jobs);
}

async function counts(): Promise<unknown> {
  const [row] = await server.query(`
    SELECT (SELECT count(*)::int FROM push_waking) AS waking,
           (SELECT count(*)::int FROM push_config WHERE scheduled) AS scheduled`);
  return row;
}

async function scheduledOwners(): Promise<string[]> {
  const rows = await server.query<{ owner: string }>(
    'SELECT DISTINCT owner FROM push_config WHERE scheduled ORDER BY owner',
  );
  return rows.map(({ owner }) => owner);
}

/** Tasks of an owner at work, each with webhooks at origins of their own. */
async function tasks(owner: string, count: number, webhooks: number): Promise<void> {
  await server.query(
    `INSERT INTO task (task_id, context_id, tenant, owner, agent, state, last_sequence, created_at, updated_at, pushes)
     SELECT $1 || n, 'c', '', $1, 'workflows/w', 'TASK_STATE_WORKING', 1, now(), now(), true
     FROM generate_series(1, $2::int) AS n`,
    [owner, count],
  );
  await server.query(
    `INSERT INTO push_config (push_id, task_id, config_id, tenant, owner, url, wire_version, delivered_sequence, scheduled, turn)
     SELECT gen_random_uuid()::text, $1 || n, 'c' || hook, '', $1, 'http://' || $1 || n || '.h' || hook || '.test/', '1.0', 1, false, 0
     FROM generate_series(1, $2::int) AS n, generate_series(1, $3::int) AS hook`,
    [owner, count, webhooks],
  );
}
