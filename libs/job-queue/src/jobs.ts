import { Global, Injectable, Logger, Module, type OnApplicationBootstrap } from '@nestjs/common';
import { setTimeout as delay } from 'node:timers/promises';
import type { ClientBase, Pool, PoolClient } from 'pg';
import { type CronEntry, ENQUEUE, enqueueValues, type Job, type JobHandler, type JobPurpose } from '#libs/jobs';
import { Database, ReplicaLife, type SecretBox } from '#libs/postgres';
import { Metrics, Shutdown } from '#libs/service';
import { JOB_PURPOSES, JOB_SESSIONS, JobMetrics, JobPool, JobWorkers } from './job-pool.js';
import { migrateJobQueue } from './job-schema.js';
import { JOB_SESSION_SETTINGS, JobTurns } from './job-turns.js';

type Release = (error?: Error | boolean) => void;
type ConnectCallback = (error: Error | undefined, client: PoolClient | undefined, release: Release) => void;

/**
 * Makes a pool ignore the second release of the same session, where pg would throw.
 * The job queue (graphile-worker 0.18) releases its LISTEN session twice if its workers end during the first statement
 * of that session, which then breaks. Nothing awaits the second release, so the error would end this process.
 */
export function ignoreSecondRelease(pool: Pool): Pool {
  const connect = pool.connect.bind(pool) as (callback?: ConnectCallback) => Promise<PoolClient>;
  const connectForgiving = (callback?: ConnectCallback): Promise<PoolClient> | void => {
    if (callback === undefined) return connect();
    void connect((error, client, release) => callback(error, client, onlyOnce(release)));
  };
  return Object.assign(pool, { connect: connectForgiving });
}

function onlyOnce(release: Release): Release {
  let isReleased = false;
  return (error) => {
    if (isReleased) return;
    isReleased = true;
    release(error);
  };
}

const RESTART_MS = 1_000;
/** Cron entry of the nightly housekeeping of the queue. */
const TIDY = { name: 'jobs.tidy', match: '23 3 * * *' };

/**
 * Job queue for retries, timers and cron entries.
 * - A job is enqueued in the transaction, or in the statement (`enqueueFrom`), that writes the state which needs the
 *   job.
 * - A job runs at least once, in any replica. Another replica takes over the jobs of a dead replica as soon as it
 *   detects the death.
 * - Losing the database delays jobs and has no other effect.
 */
@Injectable()
export class Jobs {
  private readonly logger = new Logger(Jobs.name);
  private readonly handlers = new Map<string, JobHandler<unknown>>();
  private readonly crons: CronEntry[] = [];
  private readonly workers: JobWorkers;
  private readonly metrics: JobMetrics;
  private readonly sessions: Pool;
  private readonly pools = new Map<JobPurpose, JobPool>();
  private started = false;
  private stopping = false;
  private lastCount = 0;

  constructor(
    private readonly database: Database,
    replica: ReplicaLife,
    shutdown: Shutdown,
    metrics: Metrics,
  ) {
    this.workers = new JobWorkers(database, replica);
    this.metrics = new JobMetrics(metrics, () => this.countWaiting());
    this.sessions = ignoreSecondRelease(database.tunedPool('jobs', JOB_SESSIONS, JOB_SESSION_SETTINGS));
    new JobTurns().useIn(this.sessions);
    this.sessions.on('connect', (session) => session.once('error', () => this.eachPool((it) => it.sessionBroke())));
    database.onSessionsRenewed(() => this.eachPool((it) => it.listenAnew()));
    replica.onDeath((replicaId) => this.workers.freeDead(replicaId));
    shutdown.registerStep('intake', () => this.startDraining());
    shutdown.registerStep('executions', ({ signal }) => this.stop(signal));
    scheduleUpkeep(this, TIDY, () => this.tidyQueue());
  }

  /**
   * Registers the handler of the jobs with a name. Call it before `start`, once per name.
   * @throws Error for a later or second call
   */
  registerHandler<P>(name: string, handler: JobHandler<P>): void {
    if (this.started) throw new Error(`The handler of ${name} comes too late: jobs are being done already`);
    if (this.handlers.has(name)) throw new Error(`The jobs ${name} have a handler already`);
    this.handlers.set(name, handler);
  }

  /**
   * Adds a cron entry. Its handler ignores the payload that the queue makes, and must be registered before (else an
   * Error is thrown). Call it before `start`.
   */
  scheduleCron(entry: CronEntry): void {
    if (!this.handlers.has(entry.name)) throw new Error(`The jobs ${entry.name} have no handler`);
    this.crons.push(entry);
  }

  /** Enqueues jobs. Resolves when they are durable, or written in the transaction of `client`. */
  async enqueueJobs(jobs: readonly Job[], client: Pick<ClientBase, 'query'> = this.database.pool): Promise<void> {
    const timed = jobs.map((job) => (job.runAt ? { ...job, runAt: this.database.timeThere(job.runAt) } : job));
    if (jobs.length > 0) await client.query(ENQUEUE, enqueueValues(timed));
  }

  /** Starts to run jobs. Call it after all handlers are registered. */
  start(): void {
    this.started = true;
    for (const purpose of JOB_PURPOSES) void this.keepRunning(purpose);
  }

  /** Stops taking jobs; running jobs continue. */
  startDraining(): void {
    this.stopping = true;
    this.eachPool((it) => it.startDraining());
  }

  private eachPool(act: (pool: JobPool) => void): void {
    for (const pool of this.pools.values()) act(pool);
  }

  private async stop(signal: AbortSignal): Promise<void> {
    await Promise.all([...this.pools.values()].map((pool) => pool.stop(signal)));
  }

  private async keepRunning(purpose: JobPurpose): Promise<void> {
    const { sessions, workers, metrics } = this;
    const ofPurpose = ([, handler]: [string, JobHandler<unknown>]): boolean => purpose === (handler.purpose ?? 'work');
    const handlers = new Map([...this.handlers].filter(ofPurpose));
    const crons = this.crons.filter(({ name }) => handlers.has(name));
    while (!this.stopping && handlers.size > 0) {
      const pool = new JobPool({ purpose, sessions, handlers, crons, workers, metrics });
      this.pools.set(purpose, pool);
      try {
        await pool.over;
      } catch (error) {
        this.logger.warn({ err: error, purpose }, 'The job queue stopped; restarting it');
      }
      if (!this.stopping) await delay(RESTART_MS, undefined, { ref: false });
    }
  }

  /** Returns the number of waiting jobs of all replicas; the last known number while the database is unreachable. */
  private async countWaiting(): Promise<number> {
    try {
      const { rows } = await this.database.pool.query<{ count: number }>(WAITING);
      this.lastCount = rows[0]?.count ?? 0;
    } catch {
      // The readiness check reports an unreachable database.
    }
    return this.lastCount;
  }

  /**
   * Deletes jobs a day after their last attempt failed, so that an operator can inspect them until then. Also deletes
   * the workers of forgotten replicas.
   */
  private async tidyQueue(): Promise<void> {
    await this.database.pool.query(REMOVE_FAILED);
    await this.workers.forgetOld();
  }
}

/** Module of the job queue. Needs PostgresModule with the migrations of this library. Call `Jobs.start` to run jobs. */
@Global()
@Module({
  providers: [
    {
      provide: Jobs,
      inject: [Database, ReplicaLife, Shutdown, Metrics],
      useFactory: async (database: Database, replica: ReplicaLife, shutdown: Shutdown, metrics: Metrics) => {
        await migrateJobQueue(database);
        return new Jobs(database, replica, shutdown, metrics);
      },
    },
  ],
  exports: [Jobs],
})
export class JobsModule {}

const WAITING = `
  SELECT count(*)::int AS count FROM graphile_worker.jobs WHERE locked_at IS NULL AND attempts < max_attempts`;

const REMOVE_FAILED = `
  SELECT graphile_worker.complete_jobs(array_agg(id)) FROM graphile_worker.jobs
  WHERE locked_at IS NULL AND attempts >= max_attempts AND updated_at < now() - interval '1 day'`;

/**
 * Registers a function as the `upkeep` job that runs at every minute that matches the cron entry. Call it before
 * `start`.
 */
export function scheduleUpkeep(
  jobs: Pick<Jobs, 'registerHandler' | 'scheduleCron'>,
  entry: CronEntry,
  run: (signal: AbortSignal) => Promise<void>,
): void {
  jobs.registerHandler(entry.name, { purpose: 'upkeep', read: () => undefined, run: (_, { signal }) => run(signal) });
  jobs.scheduleCron(entry);
}

/**
 * Job that reseals (re-encrypts) the secrets that older keys have sealed. Each replica enqueues the job when it starts;
 * the job identifies the sealing key of that replica. In a replica with another sealing key the job fails, so that it
 * is retried.
 */
export abstract class ResealJob implements OnApplicationBootstrap {
  private readonly logger = new Logger(this.constructor.name);

  /** Log text for secrets that no key opens. */
  protected abstract readonly unreadableText: string;

  constructor(
    private readonly name: string,
    private readonly jobs: Jobs,
    protected readonly box: SecretBox,
  ) {
    jobs.registerHandler(name, {
      purpose: 'upkeep',
      read: (payload) => (payload ?? {}) as { mark?: unknown },
      run: (sealing, { signal }) => this.resealWith(sealing.mark, signal),
    });
  }

  async onApplicationBootstrap(): Promise<void> {
    const { name, box } = this;
    await this.jobs.enqueueJobs([{ name, payload: { mark: box.mark }, key: name, priority: 10 }]);
  }

  /**
   * Reseals all secrets and logs how many of them no key opens.
   * @param mark identifies the key to seal with (`SecretBox.mark`); jobs of an earlier version have no mark, and are
   *   run with any key
   * @throws Error if this replica seals with another key
   */
  private async resealWith(mark: unknown, signal: AbortSignal): Promise<void> {
    if (typeof mark === 'string' && mark !== this.box.mark)
      throw new Error('Another replica seals with the key that is meant');
    const unreadable = await this.resealAll(signal);
    if (unreadable > 0) this.logger.error({ unreadable }, this.unreadableText);
  }

  /** Reseals all secrets with the newest key. @returns the number of secrets that no key opens */
  protected abstract resealAll(signal: AbortSignal): Promise<number>;
}
