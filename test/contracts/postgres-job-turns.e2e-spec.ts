import { jest } from '@jest/globals';
import { JOB_MIGRATIONS, Jobs } from '#libs/job-queue';
import { callerFlag, callerFlagSql, type Job } from '#libs/jobs';
import type { Database, ReplicaLife } from '#libs/postgres';
import { loadConfig, Metrics, Readiness, Shutdown } from '#libs/service';
import pg from 'pg';
import type { TestDatabase } from '../support/postgres.js';
import { openTaskDatabase } from './task-database.js';

/** The statement of graphile-worker that takes a job, by its name. */
const TAKE = 'get_job/graphile_worker';
const FLOOD = 3_000;
/** Callers that one claim looks at, each with one priority. */
const PASSED = 64;
/** Rows that one claim may read, whatever the queue holds. */
const MOST_ROWS = 1_000;

interface Taken {
  id: string;
  payload: { who: string; n: number };
  priority: number;
}

let server: TestDatabase;
let database: Database;
let jobs: Jobs;
/** The sessions in which the queue takes jobs. */
let sessions: pg.Pool;
let taskIds: number[];
/** The statement that takes a job in place of that of the queue. */
let claimText = '';

beforeAll(async () => {
  ({ server, database } = await openTaskDatabase(JOB_MIGRATIONS));
  const tunedPool = database.tunedPool.bind(database);
  const opened = jest.spyOn(database, 'tunedPool').mockImplementation((...args) => {
    const pool = tunedPool(...args);
    if (args[0] === 'jobs') pool.on('connect', listen);
    return pool;
  });
  const replica = { replicaId: 'r', onDeath: () => undefined } as unknown as ReplicaLife;
  jobs = new Jobs(database, replica, new Shutdown(loadConfig({}), new Readiness()), new Metrics());
  sessions = opened.mock.results[0]!.value as pg.Pool;
  await jobs.enqueueJobs([{ name: 'work', payload: {} }]);
  taskIds = (await server.query<{ id: number }>('SELECT id FROM graphile_worker._private_tasks')).map(({ id }) => id);
});

afterAll(async () => {
  await database.close();
  await server.drop();
});

beforeEach(() => server.query('TRUNCATE graphile_worker._private_jobs, graphile_worker._private_job_queues'));

describe('When many jobs are due', () => {
  it('a caller’s job is taken after a few, however many of another caller have waited longer', async () => {
    await enqueue('guest', FLOOD);
    await enqueue('other', 1);
    const order = await takeUntil('w', 'other', 100);
    expect(order.filter((who) => who === 'guest').length).toBeLessThan(5);
  });

  it('a job of nobody is taken after a few, and so is one of a caller among many of nobody', async () => {
    await enqueue('guest', 200);
    await jobs.enqueueJobs([{ name: 'work', payload: { who: 'nobody', n: 0 }, runAt: ago(1) }]);
    expect((await takeUntil('w', 'nobody', 50)).length).toBeLessThan(5);
    await jobs.enqueueJobs(Array.from({ length: 200 }, (_, n) => job('nobody', n, { caller: undefined })));
    await server.query(`UPDATE graphile_worker._private_jobs SET run_at = now() WHERE payload->>'who' = 'guest'`);
    expect((await takeUntil('w', 'guest', 50)).length).toBeLessThan(5);
  });

  it('a caller with many jobs waits for one of each other caller at a time', async () => {
    const many = Array.from({ length: 50 }, (_, n) => `small-${n}`);
    for (const who of many) await enqueue(who, 4, 5_000);
    await enqueue('large', 100);
    const order = (await takeUntil('w', 'large', 200)).concat(await takeUntil('w', 'large', 200));
    expect(order.length).toBeLessThan(2 * (many.length + 5));
  });

  it('callers whose jobs are not due yet stand in nobody’s way', async () => {
    for (let n = 0; n < 150; n += 1) await enqueue(`later-${n}`, 1, -3_600_000);
    await enqueue('guest', FLOOD);
    await enqueue('other', 1);
    expect((await takeUntil('w', 'other', 100)).length).toBeLessThan(10);
  });

  it('a caller is not passed over whose due job comes behind one for later, where a claim’s look at callers ends', async () => {
    const callers = Array.from({ length: PASSED + 1 }, (_, n) => `caller-${n}`).sort(byFlag);
    const [mine, flood] = callers.slice(-2) as [string, string];
    for (const who of callers.slice(0, PASSED)) await enqueue(who, 1, -3_600_000);
    await jobs.enqueueJobs([job(mine, 1, { priority: 5 })]);
    await enqueue(flood, 100);
    expect((await takeUntil('at-the-start', mine, 90)).length).toBeLessThan(5);
  });

  it('the jobs of each caller keep their order: by priority, then by time', async () => {
    for (const who of ['one', 'two']) {
      await jobs.enqueueJobs(Array.from({ length: 60 }, (_, n) => job(who, n, { runAt: ago(60_000 - n) })));
      await jobs.enqueueJobs([job(who, 1_000, { priority: 5, runAt: ago(90_000) }), job(who, -1, { priority: -1 })]);
    }
    const taken = await takeAll('w');
    for (const who of ['one', 'two']) {
      const order = taken.filter(({ payload }) => payload.who === who).map(({ payload }) => payload.n);
      expect(order).toEqual([-1, ...Array.from({ length: 60 }, (_, n) => n), 1_000]);
    }
  });

  it('workers that take at the same time take each job once, and a caller alone keeps all of them busy', async () => {
    await enqueue('guest', 400);
    const workers = Array.from({ length: 8 }, (_, n) => `w${n}`);
    const rounds = await Promise.all(workers.map((worker) => takeTimes(worker, 50)));
    const ids = rounds.flat().map(({ id }) => id);
    expect(new Set(ids).size).toBe(400);
    const free =
      'SELECT count(*)::int AS n FROM graphile_worker._private_jobs WHERE attempts <> 1 OR locked_by IS NULL';
    expect(await server.query(free)).toEqual([{ n: 0 }]);
  });

  it('a queue that runs one job at a time is entered with its job, and by one worker', async () => {
    await enqueue('guest', 100);
    await server.query(`SELECT graphile_worker.add_job('work', '{"who":"queue"}', queue_name => 'q', run_at => now())
                        FROM generate_series(1, 2)`);
    const [first, second] = [await takeUntil('w', 'queue', 20), await takeTimes('v', 99)];
    expect(first.length).toBeLessThan(5);
    expect(second.filter(({ payload }) => payload.who === 'queue')).toEqual([]);
    expect(await server.query('SELECT locked_by FROM graphile_worker._private_job_queues')).toEqual([
      { locked_by: 'w' },
    ]);
  });
});

it.each([
  ['', ''],
  ['tenant', 'o/"\\\'é😀'],
])('a caller %j %j has the same flag wherever its jobs are enqueued', async (tenant, owner) => {
  const [row] = await server.query(`SELECT ${callerFlagSql('$1::text', '$2::text')} AS flag`, [tenant, owner]);
  expect(row).toEqual({ flag: callerFlag({ tenant, owner }) });
});

it('jobs are taken by their time where few are due, and none before its time', async () => {
  await enqueue('one', 3, 1_000);
  await enqueue('two', 3, 2_000);
  await enqueue('three', 3, -3_600_000);
  expect((await takeAll('w')).map(({ payload }) => payload.who)).toEqual([
    ...['two', 'two', 'two'],
    ...['one', 'one', 'one'],
  ]);
});

it('a job is taken of which priority it is, while another transaction holds those that come before', async () => {
  await enqueue('one', 2);
  await jobs.enqueueJobs([job('two', 1, { priority: 5 })]);
  const session = await database.pool.connect();
  try {
    await session.query('BEGIN; SELECT FROM graphile_worker._private_jobs WHERE priority = 0 FOR UPDATE');
    expect((await takeTimes('w', 1)).map(({ payload }) => payload.who)).toEqual(['two']);
  } finally {
    await session.query('ROLLBACK');
    session.release();
  }
});

it('a claim reads few rows, whatever is due and whatever waits for its time', async () => {
  await fill('flood', 30_000, 'now() - interval `1 hour`');
  await fill('later', 30_000, 'now() + interval `1 hour`');
  await enqueue('other', 1);
  await takeTimes('w', 3);
  const session = await database.pool.connect();
  try {
    await session.query(
      'BEGIN; SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL jit = off',
    );
    const { rows } = await session.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${claimText}`, ['w', taskIds, '', 0]);
    const read = rowsRead((rows[0] as { 'QUERY PLAN': [{ Plan: PlanNode }] })['QUERY PLAN'][0].Plan);
    expect(read).toBeGreaterThan(0);
    expect(read).toBeLessThan(MOST_ROWS);
  } finally {
    await session.query('ROLLBACK');
    session.release();
  }
});

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: PlanNode[];
}

/** Rows of tables that the nodes of a plan read, those included that they passed over. */
function rowsRead(node: PlanNode): number {
  const seen =
    node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
  const own = node['Relation Name'] === undefined ? 0 : seen * node['Actual Loops'];
  return (node.Plans ?? []).reduce((sum, plan) => sum + rowsRead(plan), own);
}

function listen(session: pg.PoolClient): void {
  const query = session.query.bind(session) as (...args: unknown[]) => unknown;
  session.query = ((...args: unknown[]) => {
    const [statement] = args as [{ name?: string; text?: string } | undefined];
    if (statement?.name === 'claim-job') claimText = statement.text ?? '';
    return query(...args);
  }) as typeof session.query;
}

function byFlag(one: string, other: string): number {
  const [first, second] = [one, other].map((owner) => callerFlag({ tenant: '', owner })) as [string, string];
  return first < second ? -1 : 1;
}

function ago(ms: number): Date {
  return new Date(Date.now() - ms);
}

function job(who: string, n: number, fields: Partial<Job> = {}): Job {
  return { name: 'work', payload: { who, n }, runAt: ago(60_000), caller: { tenant: '', owner: who }, ...fields };
}

/** Enqueues jobs of a caller that have been due for so many milliseconds. */
function enqueue(who: string, count: number, dueFor = 60_000): Promise<void> {
  const runAt = ago(who === 'other' ? 1 : dueFor);
  return jobs.enqueueJobs(Array.from({ length: count }, (_, n) => job(who, n, { runAt })));
}

async function fill(who: string, count: number, at: string): Promise<void> {
  await server.query(
    `INSERT INTO graphile_worker._private_jobs (task_id, payload, run_at, flags)
     SELECT $1, json_build_object('who', $2::text), ${at.replaceAll('`', "'")}, jsonb_build_object($2::text, true)
     FROM generate_series(1, $3::int)`,
    [taskIds[0], who, count],
  );
}

/** Takes a job as a worker of the queue does. */
async function take(session: pg.PoolClient, worker: string): Promise<Taken | undefined> {
  const { rows } = await session.query<Taken>({ name: TAKE, text: 'SELECT 1 / 0', values: [worker, taskIds] });
  return rows[0];
}

async function takeTimes(worker: string, times: number): Promise<Taken[]> {
  const session = await sessions.connect();
  try {
    const taken: Taken[] = [];
    for (let n = 0; n < times; n += 1) {
      const next = await take(session, worker);
      if (next) taken.push(next);
    }
    return taken;
  } finally {
    session.release();
  }
}

async function takeAll(worker: string): Promise<Taken[]> {
  const taken: Taken[] = [];
  for (let [next] = await takeTimes(worker, 1); next; [next] = await takeTimes(worker, 1)) taken.push(next);
  return taken;
}

/** Takes jobs until one is of that caller. @returns whose the others were */
async function takeUntil(worker: string, who: string, most: number): Promise<string[]> {
  const order: string[] = [];
  while (order.length < most) {
    const [next] = await takeTimes(worker, 1);
    if (!next) throw new Error(`Nothing is due after ${order.length} jobs, and none of them was of ${who}`);
    if (next.payload.who === who) return order;
    order.push(next.payload.who);
  }
  return order;
}
