import { Logger } from '@nestjs/common';
import { JOB_MIGRATIONS, Jobs, migrateJobQueue } from '#libs/job-queue';
import { enqueueFrom, type JobContext, type JobHandler, PermanentJobError } from '#libs/jobs';
import { Database, POSTGRES_MIGRATIONS, ReplicaLife, takeMigrationLock } from '#libs/postgres';
import { AppConfig, loadConfig, Metrics, Readiness, Shutdown } from '#libs/service';
import { DatabaseLink } from '../../support/database-link.js';
import { freshDatabase, type TestDatabase } from '../../support/postgres.js';
import { before, until } from '../../support/until.js';

interface Replica {
  database: Database;
  life: ReplicaLife;
  shutdown: Shutdown;
  metrics: Metrics;
  jobs: Jobs;
}

let server: TestDatabase;
const replicas: Replica[] = [];

beforeAll(() => Logger.overrideLogger(false));

beforeEach(async () => {
  server = await freshDatabase();
});

afterEach(async () => {
  await Promise.all(replicas.splice(0).map(end));
  await server.drop();
});

describe('Jobs', () => {
  it('does a job once, whichever of many replicas took it', async () => {
    const done: number[] = [];
    const many = await Promise.all(Array.from({ length: 3 }, () => replica()));
    for (const { jobs } of many) started(jobs, { count: (payload) => void done.push(payload.n as number) });
    await many[0]!.jobs.enqueueJobs(Array.from({ length: 30 }, (_, n) => ({ name: 'count', payload: { n } })));
    await until(() => done.length >= 30, { what: 'thirty jobs' });
    await until(async () => (await queued()) === 0, { what: 'an empty queue' });
    expect(done.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, n) => n));
  });

  it('enqueues with the transaction and with the statement of the caller, or not at all', async () => {
    const { jobs, database } = await replica();
    const session = await database.pool.connect();
    await session.query('BEGIN');
    await jobs.enqueueJobs([{ name: 'never', payload: {} }], session);
    await session.query('ROLLBACK');
    session.release();
    expect(await queued()).toBe(0);
    const source = `(SELECT 'later', '{"a":1}'::json, key, NULL::timestamptz, NULL::int, 7 FROM state)`;
    const statement = `WITH state AS (SELECT key FROM unnest($1::text[]) AS key WHERE key <> 'not this'),
      queued AS MATERIALIZED (${enqueueFrom(source)}) SELECT jobs FROM queued`;
    const { rows } = await database.pool.query(statement, [['k1', 'not this', 'k2']]);
    expect(rows).toEqual([{ jobs: 2 }]);
    expect(await server.query('SELECT task_identifier, key, priority, max_attempts FROM graphile_worker.jobs')).toEqual(
      ['k1', 'k2'].map((key) => ({ task_identifier: 'later', key, priority: 7, max_attempts: 10 })),
    );
  });

  it('keeps one job of a key until it begins', async () => {
    const { jobs } = await replica();
    const runAt = new Date(Date.now() + 3_600_000);
    await jobs.enqueueJobs([{ name: 'later', payload: { n: 1 }, key: 'k', runAt }]);
    await jobs.enqueueJobs([{ name: 'later', payload: { n: 2 }, key: 'k', runAt }]);
    expect(await server.query(`SELECT payload FROM graphile_worker._private_jobs`)).toEqual([{ payload: { n: 2 } }]);
  });

  it('tries again what failed, but not what cannot succeed', async () => {
    const { jobs, metrics } = await replica();
    const attempts: Record<string, number[]> = { shaky: [], hopeless: [], unread: [] };
    jobs.registerHandler('unread', {
      read: () => {
        throw new Error('not like this');
      },
      run: () => Promise.resolve(void attempts['unread']!.push(0)),
    });
    started(jobs, {
      shaky: (_payload, { attempt, last }) => {
        attempts['shaky']!.push(attempt);
        expect(last).toBe(attempt === 2);
        if (attempt === 1) throw new Error('not yet');
      },
      hopeless: (_payload, { attempt }) => {
        attempts['hopeless']!.push(attempt);
        throw new PermanentJobError('never');
      },
    });
    await jobs.enqueueJobs([
      { name: 'shaky', payload: {}, maxAttempts: 2 },
      { name: 'hopeless', payload: {} },
      { name: 'unread', payload: {} },
    ]);
    await until(async () => (await queued()) === 0, { what: 'an empty queue' });
    expect(attempts).toEqual({ shaky: [1, 2], hopeless: [1], unread: [] });
    const text = await metrics.readExposition();
    expect(text).toContain('parley_jobs_total{job="shaky",outcome="retried"} 1');
    expect(text).toContain('parley_jobs_total{job="shaky",outcome="done"} 1');
    expect(text).toContain('parley_jobs_total{job="hopeless",outcome="failed"} 1');
    expect(text).toContain('parley_jobs_total{job="unread",outcome="failed"} 1');
  });

  it('does what somebody waits for while purges and webhooks hold all of their slots', async () => {
    const { jobs } = await replica();
    const [held, done] = [Promise.withResolvers<void>(), waiter()];
    let holding = 0;
    for (const purpose of ['push', 'upkeep'] as const) {
      jobs.registerHandler(purpose, { purpose, read: () => undefined, run: () => ((holding += 1), held.promise) });
      await jobs.enqueueJobs(Array.from({ length: 20 }, () => ({ name: purpose, payload: {}, priority: -1 })));
    }
    let count = 0;
    started(jobs, { wake: () => void ((count += 1) === 200 && done.done(count)) });
    await until(() => holding === 2, { what: 'one slot of each purpose to be taken' });
    await jobs.enqueueJobs(Array.from({ length: 200 }, () => ({ name: 'wake', payload: {} })));
    expect(await done.promise).toBe(200);
    expect(holding).toBe(2);
    held.resolve();
    await until(async () => (await queued()) === 0, { what: 'an empty queue' });
  });

  it('frees the jobs of every purpose when a replica dies, and none of those that it works on itself', async () => {
    const [first, second] = [await replica({ grace: '100ms' }), await replica()];
    const purposes = ['work', 'push', 'upkeep'] as const;
    const taken: string[] = [];
    for (const [at, { jobs }] of [first, second].entries()) {
      for (const purpose of purposes) {
        const run = (): Promise<void> => {
          taken.push(`${at} ${purpose}`);
          return at === 0 ? new Promise(() => undefined) : Promise.resolve();
        };
        jobs.registerHandler(purpose, { purpose, read: () => undefined, run });
      }
    }
    first.jobs.start();
    await first.jobs.enqueueJobs(purposes.map((name) => ({ name, payload: {} })));
    await until(() => taken.length === 3, { what: 'a job of each purpose to be taken' });
    const locked = 'SELECT FROM graphile_worker.jobs WHERE locked_by IS NOT NULL';
    expect(await server.query(locked)).toHaveLength(3);
    second.jobs.start();
    first.jobs.startDraining();
    await first.life.endLife();
    await until(async () => (await second.life.deadReplicas()).includes(first.life.replicaId), { what: 'the death' });
    await second.life.runSuccessors(first.life.replicaId);
    await until(() => taken.length === 6, { what: 'the jobs to be done' });
    expect(taken.slice(3).toSorted()).toEqual(purposes.map((it) => `1 ${it}`).toSorted());
  });

  it("does a dead replica's jobs at another one as soon as it is found dead", async () => {
    const [first, second] = [await replica({ grace: '100ms' }), await replica()];
    const taken = waiter();
    started(first.jobs, { work: (_payload, { attempt }) => (taken.done(attempt), new Promise(() => undefined)) });
    await first.jobs.enqueueJobs([{ name: 'work', payload: {} }]);
    expect(await taken.promise).toBe(1);
    const done = waiter();
    started(second.jobs, { work: (_payload, { attempt }) => done.done(attempt) });
    // As far as the others can tell, this is its death.
    first.jobs.startDraining();
    await first.life.endLife();
    await until(async () => (await second.life.deadReplicas()).includes(first.life.replicaId), { what: 'the death' });
    await second.life.runSuccessors(first.life.replicaId);
    expect(await done.promise).toBe(2);
  });

  it('leaves the jobs of a replica that lives alone, whoever takes it for dead', async () => {
    const [first, second] = [await replica({ grace: '100ms' }), await replica()];
    const taken = waiter();
    started(first.jobs, { work: () => (taken.done(1), new Promise(() => undefined)) });
    await first.jobs.enqueueJobs([{ name: 'work', payload: {} }]);
    await taken.promise;
    await second.life.runSuccessors(first.life.replicaId);
    const locked = await server.query('SELECT FROM graphile_worker.jobs WHERE locked_by IS NOT NULL');
    expect(locked).toHaveLength(1);
    await first.shutdown.beforeApplicationShutdown();
  });

  it('gives jobs that outlast the grace time back to the queue, as if they had not been tried', async () => {
    const [first, second] = [await replica({ grace: '100ms' }), await replica()];
    const [taken, aborted, done] = [waiter(), waiter(), waiter()];
    started(first.jobs, {
      work: async (_payload, { attempt, signal }) => {
        taken.done(attempt);
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        aborted.done(attempt);
        throw signal.reason;
      },
    });
    await first.jobs.enqueueJobs([{ name: 'work', payload: {} }]);
    await taken.promise;
    await first.shutdown.beforeApplicationShutdown();
    await aborted.promise;
    expect(await server.query('SELECT attempts, locked_by FROM graphile_worker.jobs')).toEqual([
      { attempts: 0, locked_by: null },
    ]);
    started(second.jobs, { work: (_payload, { attempt }) => done.done(attempt) });
    expect(await done.promise).toBe(1);
  });

  it('lets jobs end within the grace time, and takes no more', async () => {
    const { jobs, shutdown } = await replica();
    const [taken, go] = [waiter(), waiter()];
    const ended: number[] = [];
    started(jobs, {
      work: async ({ n }) => {
        taken.done(0);
        await go.promise;
        ended.push(n as number);
      },
    });
    await jobs.enqueueJobs([{ name: 'work', payload: { n: 1 } }]);
    await taken.promise;
    const over = shutdown.beforeApplicationShutdown();
    go.done(0);
    await over;
    await jobs.enqueueJobs([{ name: 'work', payload: { n: 2 } }]);
    expect(ended).toEqual([1]);
    expect(await queued()).toBe(1);
  });

  it('goes on after every session was lost, also in the middle of a job', async () => {
    const { jobs } = await replica();
    const [taken, go] = [waiter(), waiter()];
    const done: number[] = [];
    started(jobs, {
      work: async ({ n }) => {
        taken.done(0);
        await go.promise;
        done.push(n as number);
      },
    });
    await jobs.enqueueJobs([{ name: 'work', payload: { n: 1 } }]);
    await taken.promise;
    // The end of the job meets a server that lets nobody in.
    await closeServer();
    go.done(0);
    await until(() => done.length === 1, { what: 'the end of the job' });
    await until(async () => (await pretendToAsk(jobs)) === 'refused', { what: 'the server to be closed' });
    await openServer();
    await until(async () => (await pretendToAsk(jobs)) === 'taken', { what: 'the server to be back' });
    await until(() => done.includes(2), { what: 'the next job' });
    await until(async () => (await queued()) === 0, { what: 'an empty queue' });
    expect(done.filter((n) => n === 1).length).toBeGreaterThan(0);
  });

  it('does a job although the answer that it was taken got lost', async () => {
    const link = await DatabaseLink.to(server.url);
    try {
      const { jobs } = await replica({ url: link.url });
      const done = waiter();
      started(jobs, { work: (_payload, { attempt }) => done.done(attempt) });
      link.breakBefore('the mark');
      await server.query(`SELECT graphile_worker.add_job('work', '{"n":"the mark"}', queue_name => 'q')`);
      const taken = `SELECT FROM graphile_worker.jobs WHERE locked_by IS NOT NULL`;
      await until(async () => (await server.query(taken)).length === 1, { what: 'the job to be taken' });
      link.mend();
      expect(await done.promise).toBe(1);
    } finally {
      await Promise.all(replicas.splice(0).map(end));
      await link.stop();
    }
  });

  it('has a cron entry done once for all replicas, also where none ran when it was due', async () => {
    const many = await Promise.all([replica(), replica()]);
    const due = new Date(Math.floor(Date.now() / 60_000) * 60_000);
    await server.query(
      `INSERT INTO graphile_worker._private_known_crontabs (identifier, known_since) VALUES ('tick', $1)`,
      [new Date(due.getTime() - 1)],
    );
    const done: unknown[] = [];
    for (const { jobs } of many) {
      jobs.registerHandler('tick', { read: (payload) => payload, run: async (payload) => void done.push(payload) });
      jobs.scheduleCron({ name: 'tick', match: `${due.getUTCMinutes()} * * * *` });
      jobs.start();
    }
    await until(() => done.length > 0, { what: 'what was due' });
    await until(async () => (await queued()) === 0, { what: 'an empty queue' });
    expect(done).toEqual([{ _cron: { ts: due.toISOString(), backfilled: true } }]);
  });

  it('brings its schema about where there is none, and has nothing to wait for where it is up to date', async () => {
    const empty = await freshDatabase({ empty: true });
    const database = await Database.connectAndMigrate({ url: empty.url, migrations: POSTGRES_MIGRATIONS });
    const migrating = database.createSession('another');
    try {
      await migrateJobQueue(database);
      await migrating.connect();
      await takeMigrationLock(migrating);
      await before(migrateJobQueue(database), { what: 'a schema that is up to date' });
      expect(await empty.query('SELECT FROM graphile_worker.jobs')).toEqual([]);
    } finally {
      await migrating.end();
      await database.close();
      await empty.drop();
    }
  });

  it('refuses handlers that nobody would call', async () => {
    const { jobs } = await replica();
    const handler = { read: () => undefined, run: () => Promise.resolve() };
    jobs.registerHandler('a', handler);
    expect(() => jobs.registerHandler('a', handler)).toThrow('a have a handler already');
    expect(() => jobs.scheduleCron({ name: 'b', match: '* * * * *' })).toThrow('b have no handler');
    jobs.start();
    expect(() => jobs.registerHandler('c', handler)).toThrow('comes too late');
  });
});

type Handlers = Record<string, (payload: Record<string, unknown>, context: JobContext) => unknown>;

function started(jobs: Jobs, handlers: Handlers): void {
  for (const [name, run] of Object.entries(handlers)) {
    const handler: JobHandler<Record<string, unknown>> = {
      read: (payload) => payload as Record<string, unknown>,
      run: async (payload, context) => void (await run(payload, context)),
    };
    jobs.registerHandler(name, handler);
  }
  jobs.start();
}

async function replica(options: { grace?: string; url?: string } = {}): Promise<Replica> {
  const config: AppConfig = loadConfig({ SHUTDOWN_GRACE: options.grace ?? '5s' });
  const database = await Database.connectAndMigrate({
    url: options.url ?? server.url,
    migrations: [...POSTGRES_MIGRATIONS, ...JOB_MIGRATIONS],
  });
  const life = new ReplicaLife(database);
  await life.beginLife();
  await migrateJobQueue(database);
  const [shutdown, metrics] = [new Shutdown(config, new Readiness()), new Metrics()];
  const made = { database, life, shutdown, metrics, jobs: new Jobs(database, life, shutdown, metrics) };
  replicas.push(made);
  return made;
}

async function end({ database, life, shutdown }: Replica): Promise<void> {
  await shutdown.beforeApplicationShutdown();
  await life.endLife();
  await database.close();
}

async function queued(): Promise<number> {
  const [row] = await server.query<{ n: number }>('SELECT count(*)::int AS n FROM graphile_worker.jobs');
  return row?.n ?? -1;
}

async function pretendToAsk(jobs: Jobs): Promise<'taken' | 'refused'> {
  return jobs.enqueueJobs([{ name: 'work', payload: { n: 2 } }]).then(
    () => 'taken',
    () => 'refused',
  );
}

/** New sessions are refused and old ones end, but for the one of this test. */
async function closeServer(): Promise<void> {
  await server.query('UPDATE pg_database SET datallowconn = false WHERE datname = current_database()');
  await server.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );
}

async function openServer(): Promise<void> {
  await server.query('UPDATE pg_database SET datallowconn = true WHERE datname = current_database()');
}

function waiter(): { promise: Promise<number>; done(value: number): void } {
  const { promise, resolve } = Promise.withResolvers<number>();
  return { promise, done: resolve };
}
