import { EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { ParsedCronItem, Runner, WorkerEvents, WorkerPool } from 'graphile-worker';
import type { Pool } from 'pg';
import type { CronEntry, JobHandler, JobPurpose } from './job.js';
import { JobAttempts } from './job-attempts.js';
import { jobLog } from './job-log.js';
import type { JobMetrics } from './job-metrics.js';
import type { JobWorkers } from './job-workers.js';

/** Jobs that one replica works on at once, by what they are for. */
export const JOB_SLOTS: Readonly<Record<JobPurpose, number>> = { work: 4, push: 1, upkeep: 1 };
export const JOB_PURPOSES = Object.keys(JOB_SLOTS) as JobPurpose[];
/** Each purpose has a session for LISTEN; one more is for ending jobs while all slots look for the next. */
export const JOB_SESSIONS = Object.values(JOB_SLOTS).reduce((sum, slots) => sum + slots + 1, 1);
/** Backs the notifications up, and finds jobs whose time has come. */
const POLL_MS = 2_000;
/** After a broken session: longer than a worker needs to know what it took. */
const LOOK_FOR_UNHELD_MS = 6_000;
/** What an aborted handler may take to return. */
const LETTING_GO_MS = 1_000;
/** What was due while no replica ran is made up for when it is no older than this. */
const CRON_BACKFILL_MS = 3_600_000;
/** Longest time that a timer can hold: handlers are aborted by us alone. */
const NEVER_MS = 2 ** 31 - 1;

export interface JobPoolStart {
  purpose: JobPurpose;
  sessions: Pool;
  /** Those of the purpose. */
  handlers: ReadonlyMap<string, JobHandler<unknown>>;
  crons: readonly CronEntry[];
  workers: JobWorkers;
  metrics: JobMetrics;
}

/** The workers of one purpose from their start to their end. A lost database may end them: then others take their place. */
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
    this.ended = this.run().finally(() => {
      clearTimeout(this.look);
      this.attempts.interrupt();
    });
    this.ended.catch(() => undefined);
  }

  /** Resolves when the pool was stopped; rejects when it ended by a fault. */
  get over(): Promise<void> {
    return this.ended;
  }

  /** Listens with another session: the one it has may be that of a server that was replaced. */
  listenAnew(): void {
    // The queue lets a session go whose connection says that it broke.
    this.listener?.emit('error', new Error('The session is replaced'));
  }

  /** A session broke, perhaps before it could say which job it had taken: what nobody works at is given back. */
  sessionBroke(): void {
    this.look ??= setTimeout(() => void this.giveBackUnheld(), LOOK_FOR_UNHELD_MS).unref();
  }

  /** Takes no more jobs. */
  drain(): void {
    if (this.ending.signal.aborted) return;
    this.ending.abort();
    void this.runner?.stop().catch(() => undefined);
  }

  /** Lets the jobs under way end until the signal, then gives them back to the queue. */
  async stop(signal: AbortSignal): Promise<void> {
    this.drain();
    const ended = this.ended.catch(() => undefined);
    await Promise.race([ended, aborted(signal)]);
    const cut = this.attempts.interrupt();
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

  private async run(): Promise<void> {
    const { run } = await import('graphile-worker');
    this.runner = await run(await this.options());
    if (this.ending.signal.aborted) void this.runner.stop().catch(() => undefined);
    await this.runner.promise;
  }

  private async options() {
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
    const register = once((workerId: string) => workers.register(purpose, workerId, this.ending.signal));
    return {
      pgPool: this.start.sessions,
      taskList: this.attempts.tasks(),
      parsedCronItems: await cronItems(this.start.crons),
      noHandleSignals: true,
      events,
      logger: await jobLog(),
      preset: {
        worker: {
          concurrentJobs: JOB_SLOTS[purpose],
          pollInterval: POLL_MS,
          gracefulShutdownAbortTimeout: NEVER_MS,
          // In batches of their own, ends of jobs that cannot be written end the pool, and not the process.
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

/** As if it had not been tried. */
const REQUEUE = 'SELECT graphile_worker.reschedule_jobs(ARRAY[$1::bigint], now(), NULL, $2::int)';

async function cronItems(crons: readonly CronEntry[]): Promise<ParsedCronItem[]> {
  const { parseCronItems } = await import('graphile-worker');
  return parseCronItems(
    crons.map(({ name, match, maxAttempts }) => ({
      task: name,
      identifier: name,
      match,
      // A queue runs one job at a time; the key keeps those that wait from piling up.
      options: {
        queueName: name,
        jobKey: name,
        backfillPeriod: CRON_BACKFILL_MS,
        ...(maxAttempts !== undefined && { maxAttempts }),
      },
    })),
  );
}

function once<A>(act: (argument: A) => Promise<void>): (argument: A) => Promise<void> {
  let acted: Promise<void> | undefined;
  return (argument) => (acted ??= act(argument));
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
