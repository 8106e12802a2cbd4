import { createHash } from 'node:crypto';

/** Caller for whom a job runs: callers take turns (see JobTurns). */
interface JobCaller {
  tenant: string;
  owner: string;
}

/**
 * Number of hexadecimal digits in a caller's flag. All flags, and thus index entries, have the same size, whatever the
 * length of the tenant and the owner.
 */
const DIGITS = 32;

/**
 * Returns the flag that marks a caller's jobs in the queue: the first digits of the SHA-256 hash of tenant and owner.
 */
export function callerFlag({ tenant, owner }: JobCaller): string {
  return createHash('sha256').update(`${tenant}/${owner}`).digest('hex').slice(0, DIGITS);
}

/**
 * Returns a SQL expression for a caller's flag, for statements that enqueue jobs without `Jobs`. The SQL text must
 * never change: released migrations contain it, and queued jobs contain its values.
 * @param tenant SQL expression of type text, like `owner`
 */
export function callerFlagSql(tenant: string, owner: string): string {
  return `left(encode(sha256(convert_to(${tenant} || '/' || ${owner}, 'UTF8')), 'hex'), ${DIGITS})`;
}

/** Deferred work. PostgreSQL stores it until a replica has done it, at least once. */
export interface Job {
  /** Name of the handler that executes the job. */
  name: string;
  payload: Readonly<Record<string, unknown>>;
  /**
   * Deduplication key. A new job replaces the waiting job with the same key. A key occurs at most once among jobs that
   * are enqueued together.
   */
  key?: string;
  /** Earliest start; immediately by default. */
  runAt?: Date;
  /** Maximum number of attempts; `DEFAULT_ATTEMPTS` by default. */
  maxAttempts?: number;
  /** Order: smaller numbers first, 0 by default. While many jobs are due, it only orders the jobs of one caller. */
  priority?: number;
  /** Caller of the job: while many jobs are due, callers take turns. All jobs without a caller count as one caller. */
  caller?: JobCaller;
}

/** Default number of attempts. The tenth attempt starts about three and a half hours after the first. */
const DEFAULT_ATTEMPTS = 10;

/**
 * Purpose of a job. Each purpose has slots of its own, so a job never waits for jobs with another purpose:
 * - `work`: work that a caller waits for, such as waking a Task. The default.
 * - `push`: short steps of push notifications. The notifications themselves are sent outside job slots.
 * - `upkeep`: purges and other housekeeping, which may take hours.
 */
export type JobPurpose = 'work' | 'push' | 'upkeep';

/** Context of one attempt at a job. */
export interface JobContext {
  /**
   * Signal that aborts after the grace time of a shutdown. The job then returns to the queue, and the attempt does not
   * count.
   */
  readonly signal: AbortSignal;
  /** Number of the attempt, from 1. An attempt during which the replica died counts. */
  readonly attempt: number;
  /** True if this is the last attempt: a failure is not retried. */
  readonly last: boolean;
}

export interface JobHandler<P> {
  /** Purpose of the handler's jobs, which decides whose slots they use; `work` by default. */
  readonly purpose?: JobPurpose;
  /** Validates a stored payload and returns it. An error is a permanent failure: the job is not retried. */
  read(payload: unknown): P;
  /**
   * Does the work of a job.
   * - It may run again for a job that is already done, when another replica takes over the jobs of a dead replica.
   * - A rejection is retried after e, e², e³ … seconds (e ≈ 2.7; at most six hours), up to the job's maximum number of
   *   attempts.
   * - A `PermanentJobError` is not retried.
   */
  run(payload: P, context: JobContext): Promise<void>;
}

/** Error that no retry can fix. The job is logged as failed and deleted. */
export class PermanentJobError extends Error {
  override readonly name: string = 'PermanentJobError';
}

/**
 * Job that is enqueued at every matching minute (UTC), once for all replicas. It never runs twice at the same time. If
 * it was due in the last hour while no replica ran, it is enqueued once when a replica starts.
 */
export interface CronEntry {
  /** Name of the handler that executes the job. */
  name: string;
  /** Cron expression of five fields: minute, hour, day of the month, month, day of the week. */
  match: string;
  maxAttempts?: number;
}

/**
 * Returns a SQL query that enqueues jobs as part of a larger statement, so that the jobs commit with that statement.
 * Embed the query `AS MATERIALIZED` and read its result: PostgreSQL skips a CTE that is never read. The jobs have no
 * caller.
 * @param source rows of `name text, payload json, key text, run_at timestamptz, max_attempts int, priority int`
 */
export function enqueueFrom(source: string): string {
  return enqueueSql(`${source} AS job (name, payload, key, run_at, max_attempts, priority)`, 'NULL');
}

/**
 * Returns a SQL query like that of `enqueueFrom`, for jobs that have a caller.
 * @param source rows of `enqueueFrom` with one more column, `caller text`: the caller's flag (see `callerFlag`), or
 * null
 */
export function enqueueForCallersFrom(source: string): string {
  return enqueueSql(
    `${source} AS job (name, payload, key, run_at, max_attempts, priority, caller)`,
    'CASE WHEN job.caller IS NOT NULL THEN ARRAY[job.caller] END',
  );
}

function enqueueSql(jobs: string, flags: string): string {
  return `
  SELECT count(*)::int AS jobs FROM graphile_worker.add_jobs(ARRAY(
    SELECT (job.name, job.payload, NULL, job.run_at, coalesce(job.max_attempts, ${DEFAULT_ATTEMPTS})::smallint, job.key,
            coalesce(job.priority, 0)::smallint, ${flags})::graphile_worker.job_spec
    FROM ${jobs}))`;
}

/** SQL statement that enqueues jobs and does nothing else. `enqueueValues` returns its parameters. */
export const ENQUEUE = enqueueForCallersFrom(
  'unnest($1::text[], $2::json[], $3::text[], $4::timestamptz[], $5::int[], $6::int[], $7::text[])',
);

/** Returns the parameters of `ENQUEUE`. */
export function enqueueValues(jobs: readonly Job[]): unknown[] {
  return [
    jobs.map((job) => job.name),
    jobs.map((job) => JSON.stringify(job.payload)),
    jobs.map((job) => job.key ?? null),
    jobs.map((job) => job.runAt ?? null),
    jobs.map((job) => job.maxAttempts ?? null),
    jobs.map((job) => job.priority ?? null),
    jobs.map((job) => (job.caller ? callerFlag(job.caller) : null)),
  ];
}
