import { Logger } from '@nestjs/common';
import type { JobHelpers, ParsedCronItem, Runner, TaskList, WorkerEvents, WorkerPool } from 'graphile-worker';
import { EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import { type CronEntry, type JobHandler, type JobPurpose, PermanentJobError } from '#libs/jobs';
import { type Database, livenessCheckBy, type ReplicaLife } from '#libs/postgres';
import { type Metrics, whenAborted, withinTime } from '#libs/service';
import { jobLog } from './job-log.js';

export type JobOutcome = 'done' | 'retried' | 'failed' | 'interrupted';

/** Prometheus metrics of jobs. */
export class JobMetrics {
  private readonly attempts;

  /** @param waiting returns the number of waiting jobs of all replicas */
  constructor(metrics: Metrics, waiting: () => Promise<number>) {
    this.attempts = metrics.counter('parley_jobs_total', 'Attempts at jobs in this replica, by what came of them', [
      'job',
      'outcome',
    ]);
    metrics.gauge('parley_jobs_waiting', 'Jobs of all replicas that are due or wait for their time', [], waiting);
  }

  /** Counts the end of an attempt at a job. */
  countAttempt(job: string, outcome: JobOutcome): void {
    this.attempts.inc({ job, outcome });
  }
}

/** Attempt at a job that a shutdown may interrupt. */
interface InterruptedAttempt {
  id: string;
  /** Number of attempts at the job before this one. */
  before: number;
}

/** Attempts at jobs that one JobPool is running. */
class JobAttempts {
  private readonly logger = new Logger('Jobs');
  private readonly controller = new AbortController();
  private readonly underWay = new Map<string, InterruptedAttempt>();

  constructor(
    private readonly handlers: ReadonlyMap<string, JobHandler<unknown>>,
    private readonly metrics: JobMetrics,
  ) {}

  /** Returns the functions that the queue calls to run jobs, by job name. */
  buildTaskList(): TaskList {
    const entries = [...this.handlers].map(([name, handler]): [string, TaskList[string]] => [
      name,
      (payload, helpers) => this.attemptJob(handler, payload, helpers),
    ]);
    return Object.fromEntries(entries);
  }

  /** Ids of the jobs that run in this pool now. */
  get ids(): string[] {
    return [...this.underWay.keys()];
  }

  /** Aborts the running attempts and returns them. */
  interruptAll(): InterruptedAttempt[] {
    this.controller.abort(new Error('This process stops'));
    return [...this.underWay.values()];
  }

  private async attemptJob(handler: JobHandler<unknown>, payload: unknown, { job }: JobHelpers): Promise<void> {
    const { signal } = this.controller;
    const last = job.attempts >= job.max_attempts;
    this.underWay.set(job.id, { id: job.id, before: job.attempts - 1 });
    try {
      await handler.run(readPayload(handler, payload), { signal, attempt: job.attempts, last });
      this.metrics.countAttempt(job.task_identifier, 'done');
    } catch (error) {
      this.handleFailure(error, job, last);
    } finally {
      this.underWay.delete(job.id);
    }
  }

  /**
   * Logs and counts a failed attempt. A PermanentJobError is not rethrown, so the queue deletes the job.
   * @param last true if the attempt was the last one
   * @throws the error if the queue must retry the job, or keep it as failed
   */
  private handleFailure(
    error: unknown,
    { id, task_identifier: name, attempts }: JobHelpers['job'],
    last: boolean,
  ): void {
    const facts = { err: error, job: name, id, attempt: attempts };
    if (this.controller.signal.aborted) {
      this.metrics.countAttempt(name, 'interrupted');
      throw error;
    }
    const permanent = error instanceof PermanentJobError;
    this.metrics.countAttempt(name, permanent || last ? 'failed' : 'retried');
    if (!permanent && !last) {
      this.logger.warn(facts, 'A job failed and will be retried');
      throw error;
    }
    this.logger.error(facts, 'A job failed and will not be retried');
    if (!permanent) throw error;
  }
}

function readPayload(handler: JobHandler<unknown>, payload: unknown): unknown {
  try {
    return handler.read(payload);
  } catch (error) {
    throw new PermanentJobError('The payload of a job is not what its handler takes', { cause: error });
  }
}

const RETRY_MS = 500;
/**
 * Seconds until a worker has certainly received the result of the statement that takes a job, and therefore knows
 * that it holds the job.
 */
const KNOWN_SECONDS = 5;

/**
 * Registry of the names with which workers take jobs. It frees the jobs of dead replicas, which the queue alone would
 * hold for hours.
 */
export class JobWorkers {
  /** Name of the newest worker of each purpose. */
  private readonly newest = new Map<JobPurpose, string>();

  constructor(
    private readonly database: Database,
    private readonly replica: ReplicaLife,
  ) {}

  /**
   * Registers a worker, so that its jobs are freed if this replica dies. Also frees the jobs that earlier workers of
   * this replica have left. Retries until it succeeds or the signal aborts.
   */
  async registerWorker(purpose: JobPurpose, workerId: string, signal: AbortSignal): Promise<void> {
    this.newest.set(purpose, workerId);
    while (!signal.aborted) {
      try {
        await this.database.pool.query(REGISTER, [workerId, this.replica.replicaId]);
        await this.database.pool.query(FREE_OWN, [this.replica.replicaId, [...this.newest.values()]]);
        return;
      } catch {
        await delay(RETRY_MS, undefined, { ref: false });
      }
    }
  }

  /** Returns the jobs of a replica to the queue if that replica is dead at this moment; otherwise does nothing. */
  async freeDead(replicaId: string): Promise<void> {
    await this.database.pool.query(FREE_DEAD, [this.replica.replicaId, replicaId]);
  }

  /**
   * Returns to the queue those jobs that a worker took more than five seconds ago and is not running. Their attempts do
   * not count.
   * @param underWay ids of the jobs that the worker is running
   */
  async freeUnheld(workerId: string, underWay: readonly string[]): Promise<void> {
    await this.database.pool.query(FREE_UNHELD, [workerId, underWay]);
  }

  /**
   * Deletes the names of workers a day after their registration, if their replica is no longer in the table of
   * replicas. A frozen replica may resume within that day.
   */
  async forgetOld(): Promise<void> {
    await this.database.pool.query(FORGET);
  }
}

const REGISTER = `
  INSERT INTO job_worker (worker_id, replica_id) VALUES ($1, $2) ON CONFLICT (worker_id) DO NOTHING`;

const FREE_OWN = `
  SELECT graphile_worker.force_unlock_workers(array_agg(worker_id))
  FROM job_worker WHERE replica_id = $1 AND worker_id <> ALL($2::text[])`;

const LIVENESS = livenessCheckBy('$1');

const FREE_DEAD = `
  WITH ${LIVENESS.withs}
  SELECT graphile_worker.force_unlock_workers(array_agg(worker_id))
  FROM job_worker WHERE replica_id IN (${LIVENESS.selectGone('ARRAY[$2]')})`;

const FREE_UNHELD = `
  WITH unheld AS (
    UPDATE graphile_worker._private_jobs SET locked_at = NULL, locked_by = NULL, attempts = attempts - 1
    WHERE locked_by = $1 AND locked_at < now() - interval '${KNOWN_SECONDS} seconds' AND id <> ALL($2::bigint[])
    RETURNING job_queue_id
  )
  UPDATE graphile_worker._private_job_queues AS queue SET locked_at = NULL, locked_by = NULL
  FROM unheld WHERE queue.id = unheld.job_queue_id AND queue.locked_by = $1`;

const FORGET = `
  DELETE FROM job_worker WHERE registered_at < now() - interval '1 day'
    AND NOT EXISTS (SELECT FROM replica WHERE replica.id = job_worker.replica_id)`;

/** Number of jobs that one replica runs at once, by purpose. */
const JOB_SLOTS: Readonly<Record<JobPurpose, number>> = { work: 4, push: 1, upkeep: 1 };
export const JOB_PURPOSES = Object.keys(JOB_SLOTS) as JobPurpose[];
/**
 * Number of database sessions: one per slot, one per purpose for LISTEN, and one to end jobs while all slots look for
 * the next job.
 */
export const JOB_SESSIONS = Object.values(JOB_SLOTS).reduce((sum, slots) => sum + slots + 1, 1);
/**
 * Milliseconds between polls of the queue: a fallback for lost notifications, and the way to find jobs that have become
 * due.
 */
const POLL_MS = 2_000;
/**
 * Milliseconds from the loss of a database session to the release of jobs that were taken over this session without
 * the worker learning which ones, because the answer was lost. Longer than KNOWN_SECONDS.
 */
const LOOK_FOR_UNHELD_MS = 6_000;
/** Milliseconds that an aborted handler may take to return. */
const LETTING_GO_MS = 1_000;
/**
 * Maximum delay in milliseconds of a cron entry that was due while no replica ran: it is enqueued when a replica
 * starts. After this time the missed entry is dropped.
 */
const CRON_BACKFILL_MS = 3_600_000;
/**
 * Milliseconds of the longest timer of Node.js. As a time limit it means that the queue never aborts handlers; only
 * this process does.
 */
const NEVER_MS = 2 ** 31 - 1;

export interface JobPoolStart {
  purpose: JobPurpose;
  sessions: Pool;
  /** Handlers of the purpose, by job name. */
  handlers: ReadonlyMap<string, JobHandler<unknown>>;
  crons: readonly CronEntry[];
  workers: JobWorkers;
  metrics: JobMetrics;
}

/**
 * Workers of the jobs of one purpose, from their start to their end. If they end because the database is lost, Jobs
 * starts a new JobPool.
 */
export class JobPool {
  private readonly attempts: JobAttempts;
  private readonly ending = new AbortController();
  private readonly ended: Promise<void>;
  private runner: Runner | undefined;
  private pool: WorkerPool | undefined;
  private listener: EventEmitter | undefined;
  private look: NodeJS.Timeout | undefined;

  constructor(private readonly start: JobPoolStart) {
    this.attempts = new JobAttempts(start.handlers, start.metrics);
    this.ended = this.runPool().finally(() => {
      clearTimeout(this.look);
      this.attempts.interruptAll();
    });
    this.ended.catch(() => undefined);
  }

  /** Promise that resolves when the pool has stopped, and rejects if an error ended the pool. */
  get over(): Promise<void> {
    return this.ended;
  }

  /** Replaces the LISTEN session, because the database server may have been replaced. */
  listenAnew(): void {
    // The queue drops a session whose connection emits an error.
    this.listener?.emit('error', new Error('The session is replaced'));
  }

  /**
   * Schedules the release of jobs that were taken but are not running. Call this method when a database session breaks:
   * the answer that names the job which was taken over this session may be lost.
   */
  sessionBroke(): void {
    this.look ??= setTimeout(() => void this.giveBackUnheld(), LOOK_FOR_UNHELD_MS).unref();
  }

  /** Stops taking jobs; running jobs continue. */
  startDraining(): void {
    if (this.ending.signal.aborted) return;
    this.ending.abort();
    void this.runner?.stop().catch(() => undefined);
  }

  /** Waits until the running jobs end or the signal aborts, then returns the jobs that still run to the queue. */
  async stop(signal: AbortSignal): Promise<void> {
    this.startDraining();
    const ended = this.ended.catch(() => undefined);
    await Promise.race([ended, whenAborted(signal)]);
    const cut = this.attempts.interruptAll();
    await withinTime(ended, LETTING_GO_MS);
    if (cut.length === 0) return ended;
    await Promise.resolve(this.pool?.forcefulShutdown('This process stops')).catch(() => undefined);
    for (const { id, before } of cut) await this.start.sessions.query(REQUEUE, [id, before]);
  }

  private async giveBackUnheld(): Promise<void> {
    this.look = undefined;
    const { pool, attempts } = this;
    if (!pool) return;
    await this.start.workers.freeUnheld(pool.id, attempts.ids).catch(() => this.sessionBroke());
  }

  private async runPool(): Promise<void> {
    const { run } = await import('graphile-worker');
    this.runner = await run(await this.buildOptions());
    if (this.ending.signal.aborted) void this.runner.stop().catch(() => undefined);
    await this.runner.promise;
  }

  private async buildOptions() {
    const events: WorkerEvents = new EventEmitter();
    events.on('pool:create', ({ workerPool }) => {
      this.pool = workerPool;
    });
    events.on('pool:listen:success', ({ client }) => {
      this.listener = client;
    });
    events.on('pool:listen:release', () => {
      this.listener = undefined;
    });
    const { workers, purpose } = this.start;
    const register = callOnce((workerId: string) => workers.registerWorker(purpose, workerId, this.ending.signal));
    return {
      pgPool: this.start.sessions,
      taskList: this.attempts.buildTaskList(),
      parsedCronItems: await cronItems(this.start.crons),
      noHandleSignals: true,
      events,
      logger: await jobLog(),
      preset: {
        worker: {
          concurrentJobs: JOB_SLOTS[purpose],
          pollInterval: POLL_MS,
          gracefulShutdownAbortTimeout: NEVER_MS,
          // Writes the ends of jobs in batches (0 ms): a failed write then ends the pool instead of the process.
          completeJobBatchDelay: 0,
          failJobBatchDelay: 0,
        },
        plugins: [
          {
            name: 'job-workers',
            version: '1.0.0',
            // Awaited before the first job is taken.
            worker: { hooks: { startWorker: (_context, { worker }) => register(worker.workerPool.id) } },
          } satisfies GraphileConfig.Plugin,
        ],
      },
    };
  }
}

/** Returns a job to the queue without counting the attempt. */
const REQUEUE = 'SELECT graphile_worker.reschedule_jobs(ARRAY[$1::bigint], now(), NULL, $2::int)';

async function cronItems(crons: readonly CronEntry[]): Promise<ParsedCronItem[]> {
  const { parseCronItems } = await import('graphile-worker');
  return parseCronItems(
    crons.map(({ name, match, maxAttempts }) => ({
      task: name,
      identifier: name,
      match,
      // A queue runs one job at a time; the key keeps waiting jobs from piling up.
      options: {
        queueName: name,
        jobKey: name,
        backfillPeriod: CRON_BACKFILL_MS,
        ...(maxAttempts !== undefined && { maxAttempts }),
      },
    })),
  );
}

function callOnce<A>(act: (argument: A) => Promise<void>): (argument: A) => Promise<void> {
  let acted: Promise<void> | undefined;
  return (argument) => (acted ??= act(argument));
}
