import pg from 'pg';
import type { JsonObject, Task } from '#libs/protocol';
import { firstText, rpc, sendTask, stream } from '../support/a2a.js';
import { OwnPostgres } from '../support/own-postgres.js';
import { type Parley, startParley } from '../support/parley.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { ids, range } from '../support/sse.js';
import { logProblems, storedLog, storedLogs } from '../support/stored-log.js';
import { until } from '../support/until.js';
import { Api, linear, output, ruled, says, script, unique } from '../support/workflow.js';

const STEPS = range(1, 60).flatMap((n): JsonObject[] => [{ sleep: 40 }, { artifact: { parts: [{ text: `${n}` }] } }]);
const TROUBLE = 'the journal tries again';
const LONG = { within: 180_000 };

/** A service whose sessions go to a server that a test makes read-only and writable again. */
interface Stage {
  /** Whether sessions are ended as well: who asks before the service has noticed is told to come back, and does. */
  endsSessions: boolean;
  query: TestDatabase['query'];
  /** Every transaction from now on only reads. */
  readOnly(): Promise<void>;
  writable(): Promise<void>;
}

/** Prepares workflows, brings work of every kind into the time in which nothing can be written, and looks at all of it. */
async function throughReadOnly(parley: Parley, { query, readOnly, writable, endsSessions }: Stage): Promise<void> {
  const api = new Api(parley.url);
  const { name: agents } = await api.save({
    name: unique('agents'),
    nodes: [
      script('long', { status: 'working' }, ...STEPS, { complete: 'done' }),
      script('endless', { status: 'working' }, { sleep: 600_000 }, { complete: 'done' }),
      script('quick', ...says('hello')),
      ruled('asks', [{ when: { turn: 1 }, steps: [{ ask: 'more?' }] }], says('thanks')),
    ],
    edges: [],
  });
  const { name: flow } = await api.save(
    linear(unique('flow'), script('a', { sleep: 500 }, ...says('a')), script('b', ...says('b')), output('out')),
  );
  const asking = await sendTask(api.base(agents, 'asks'), 'x');
  expect(asking.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
  const canceled = await sendTask(api.base(agents, 'endless'), 'x', { configuration: { returnImmediately: true } });
  const reader = await stream(api.base(agents, 'long'), 'x');
  const run = await api.start(flow);
  await reader.find(({ id }) => id === '5');
  await readOnly();
  const ask = endsSessions ? comingBack : atOnce;
  const answers = [
    ...range(1, 8).map(() => ask(() => sendTask(api.base(agents, 'quick'), 'x'))),
    ask(() => sendTask(api.base(agents, 'asks'), 'y', { fields: { taskId: asking.id } })),
    ask(() => cancelTask(api.base(agents, 'endless'), canceled.id)),
  ];
  const settled = Promise.allSettled([...answers, ask(() => api.start(flow))]);
  await until(() => parley.logs().includes(TROUBLE), { ...LONG, what: 'the journal to find it read-only' });
  await writable();
  const problems = (await settled).flatMap((it) => (it.status === 'rejected' ? [String(it.reason)] : []));
  expect(problems).toEqual([]);
  const tasks = await Promise.all(answers);
  expect(tasks.map((task) => firstText(task)).slice(0, -1)).toEqual([...range(1, 8).map(() => 'hello'), 'thanks']);
  expect(tasks.at(-1)?.status.state).toBe('TASK_STATE_CANCELED');
  const frames = await reader.all();
  expect(ids(frames)).toEqual(range(1, frames.length));
  expect((await api.ended(run, LONG.within)).status).toBe('completed');
  await until(async () => (await storedLogs(query)).every(({ claimed }) => !claimed), { ...LONG, what: 'all to end' });
  const logs = await storedLogs(query);
  expect(logs.flatMap(logProblems)).toEqual([]);
  expect(logs.filter(({ state }) => state === 'TASK_STATE_FAILED')).toEqual([]);
  // Nor has one that was refused left anything behind.
  expect(logs.filter(({ agent }) => agent.endsWith('/nodes/quick'))).toHaveLength(8);
  const first = frames[0]?.data.result;
  if (first === undefined || !('task' in first)) throw new Error('The stream did not begin with the Task');
  expect((await storedLog(query, first.task.id)).lastSequence).toBe(frames.length);
  expect(parley.running()).toBe(true);
}

function atOnce<T>(ask: () => Promise<T>): Promise<T> {
  return ask();
}

async function comingBack<T>(ask: () => Promise<T>): Promise<T> {
  const answer = await until(() => ask().then((value) => ({ value }), unlessAway), LONG);
  return answer.value;
}

function unlessAway(error: unknown): undefined {
  if (!String(error).includes('DATABASE_UNAVAILABLE')) throw error;
}

async function cancelTask(base: string, id: string): Promise<Task> {
  const { body } = await rpc<Task>(base, 'CancelTask', { id });
  if (body.result === undefined) throw new Error(`CancelTask: ${JSON.stringify(body)}`);
  return body.result;
}

describe('a server that only reads for a while, as a primary does that is being replaced', () => {
  let postgres: OwnPostgres;
  let admin: pg.Client;
  let parley: Parley;

  beforeAll(async () => {
    postgres = await OwnPostgres.start();
    admin = new pg.Client({ connectionString: postgres.url, options: '-c default_transaction_read_only=off' });
    await admin.connect();
    parley = await startParley({ databaseUrl: postgres.url, env: { JOURNAL_STALL_LIMIT: '10m' } });
  });

  afterAll(async () => {
    await parley?.stop();
    await admin?.end();
    await postgres?.stop();
  });

  const setReadOnly = async (sql: string): Promise<void> => {
    await admin.query(sql);
    await admin.query('SELECT pg_reload_conf()');
  };

  it('Messages, streams, runs, follow-ups and cancels wait for it, and nothing is lost or fails', async () => {
    await throughReadOnly(parley, {
      endsSessions: false,
      query: async <T extends object>(sql: string, values: unknown[] = []) =>
        (await admin.query(sql, values)).rows as T[],
      readOnly: () => setReadOnly('ALTER SYSTEM SET default_transaction_read_only = on'),
      writable: () => setReadOnly('ALTER SYSTEM RESET default_transaction_read_only'),
    });
  });

  it('a statement that is canceled again and again is written in the end', async () => {
    const api = new Api(parley.url);
    const { name } = await api.save(linear(unique('canceled'), script('s', ...says('hello'))));
    const cancel = async (): Promise<boolean> => {
      const { rowCount } = await admin.query(
        `SELECT pg_cancel_backend(pid) FROM pg_stat_activity
         WHERE application_name LIKE 'parley:%:journal%' AND wait_event_type = 'Lock'`,
      );
      return rowCount === 1;
    };
    const holder = new pg.Client({ connectionString: postgres.url });
    await holder.connect();
    await holder.query('BEGIN; LOCK TABLE task_log IN EXCLUSIVE MODE');
    const sent = sendTask(api.base(name, 's'), 'x');
    for (const n of range(1, 7)) await until(cancel, { ...LONG, what: `cancel ${n} of the statement` });
    await holder.end();
    expect(firstText(await sent)).toBe('hello');
  });
});

describe('sessions that were begun while the database only read, and stay so', () => {
  let database: TestDatabase;
  let parley: Parley;
  let admin: pg.Client;

  beforeAll(async () => {
    database = await freshDatabase();
    admin = new pg.Client({
      connectionString: database.url,
      application_name: 'admin',
      options: '-c default_transaction_read_only=off',
    });
    await admin.connect();
    parley = await startParley({ databaseUrl: database.url });
  });

  afterAll(async () => {
    await parley?.stop();
    await admin?.end();
    await database?.drop();
  });

  /** The settings of a database are those of its new sessions only. */
  const setReadOnly = async (value: string): Promise<void> => {
    const { rows } = await admin.query<{ name: string }>('SELECT current_database() AS name');
    await admin.query(`ALTER DATABASE ${rows[0]!.name} ${value}`);
  };

  const endSessions = async (): Promise<void> => {
    await admin.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name LIKE 'parley:%'`,
    );
  };

  it('are replaced, all of them, and work goes on', async () => {
    let seen: number[] = [];
    const sessions = async (): Promise<number[]> => {
      const { rows } = await admin.query<{ pid: number }>(
        `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'parley:%'`,
      );
      return rows.map(({ pid }) => pid);
    };
    await throughReadOnly(parley, {
      endsSessions: true,
      query: database.query,
      readOnly: async () => {
        await setReadOnly('SET default_transaction_read_only = on');
        await endSessions();
      },
      writable: async () => {
        // What found it read-only has ended its sessions already, and begins new ones.
        const begun = async (): Promise<boolean> => (seen = await sessions()).length > 0;
        await until(begun, { ...LONG, what: 'a session to begin while it only reads' });
        await setReadOnly('RESET default_transaction_read_only');
      },
    });
    // A session that only listens may never learn of it, and loses nothing: the server is the same.
    const left = async (): Promise<string[]> => {
      const { rows } = await admin.query<{ name: string }>(
        `SELECT application_name AS name FROM pg_stat_activity
         WHERE pid = ANY($1) AND application_name NOT LIKE '%:signals'`,
        [seen],
      );
      return rows.map(({ name }) => name);
    };
    await until(async () => (await left()).length === 0, LONG).catch(async () => expect(await left()).toEqual([]));
  });
});
