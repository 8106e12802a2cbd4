import { EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { ParsedCronItem, Runner, WorkerEvents, WorkerPool } from 'graphile-worker';
import type { Pool } from 'pg';
import type { CronEntry, JobHandler, JobPurpose } from './job.js';
import { JobAttempts } from './job-attempts.js';
import { jobLog } from './job-log.js';
import type { JobMetrics } from './job-metrics.js';
import type { JobWorkers } from './job-workers.js';

/** Number of jobs that one replica runs at once, by purpose. */
export const JOB_SLOTS: Readonly<Record<JobPurpose, number>> = { work: 4, push: 1, upkeep: 1 };
export const JOB_PURPOSES = Object.keys(JOB_SLOTS) as JobPurpose[];
/**
 * Number of sessions: one per slot, one per purpose for LISTEN, and one to end jobs while all slots look for the next
 * job.
 */
export const JOB_SESSIONS = Object.values(JOB_SLOTS).reduce((sum, slots) => sum + slots + 1, 1);
/** Milliseconds between polls: a fallback for notifications, and the way to find jobs that have become due. */
const POLL_MS = 2_000;
/** Milliseconds to wait after a session broke. A worker needs less to learn which job it took. */
const LOOK_FOR_UNHELD_MS = 6_000;
/** Milliseconds that an aborted handler may take to return. */
const LETTING_GO_MS = 1_000;
/** Milliseconds for which a cron entry is caught up if no replica ran when it was due. */
const CRON_BACKFILL_MS = 3_600_000;
/** Longest timer that Node.js supports: only this process aborts handlers, never the queue. */
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

/** Workers of one purpose, from start to end. If they end because the database is lost, Jobs starts another pool. */
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

  /** Resolves when the pool has stopped; rejects if it ended because of an error. */
  get over(): Promise<void> {
    return this.ended;
  }

  /** Replaces the LISTEN session, whose server may have been replaced. */
  listenAnew(): void {
    // The queue drops a session whose connection emits an error.
    this.listener?.emit('error', new Error('The session is replaced'));
  }

  /**
   * Schedules the release of jobs that were taken but are not running: a session may break before it reports the job it
   * took.
   */
  sessionBroke(): void {
    this.look ??= setTimeout(() => void this.giveBackUnheld(), LOOK_FOR_UNHELD_MS).unref();
  }

  /** Stops taking jobs. */
  startDraining(): void {
    if (this.ending.signal.aborted) return;
    this.ending.abort();
    void this.runner?.stop().catch(() => undefined);
  }

  /** Waits until the running jobs end or the signal aborts, then returns the rest to the queue. */
  async stop(signal: AbortSignal): Promise<void> {
    this.startDraining();
    const ended = this.ended.catch(() => undefined);
    await Promise.race([ended, whenAborted(signal)]);
    const cut = this.attempts.interruptAll();
    await Promise.race([ended, delay(LETTING_GO_MS, undefined, { ref: false })]);
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

function whenAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
