import { createHash } from 'node:crypto';

/** Caller for whom a job runs. */
interface JobCaller {
  tenant: string;
  owner: string;
}

/**
 * Number of hexadecimal digits in a caller's flag. The hash keeps index entries at one size for names of any length.
 */
const DIGITS = 32;

/** Returns the flag of a caller's jobs in the queue. */
export function callerFlag({ tenant, owner }: JobCaller): string {
  return createHash('sha256').update(`${tenant}/${owner}`).digest('hex').slice(0, DIGITS);
}

/**
 * Returns SQL that computes a caller's flag, for statements that enqueue jobs without `Jobs`. The result must never
 * change: released migrations contain this text, and queued jobs contain its values.
 * @param tenant SQL of type text, like `owner`
 */
export function callerFlagSql(tenant: string, owner: string): string {
  return `left(encode(sha256(convert_to(${tenant} || '/' || ${owner}, 'UTF8')), 'hex'), ${DIGITS})`;
}

/** Deferred work. PostgreSQL stores it until a replica has done it, at least once. */
export interface Job {
  /** Name of the handler. */
  name: string;
  payload: Readonly<Record<string, unknown>>;
  /**
   * Deduplication key. A new job replaces the job with the same key that has not begun. A key occurs at most once among
   * jobs that are enqueued together.
   */
  key?: string;
  /** Earliest start; immediately by default. */
  runAt?: Date;
  /** Maximum number of attempts; `DEFAULT_ATTEMPTS` by default. */
  maxAttempts?: number;
  /** Order among the jobs of one caller: smaller numbers first. 0 by default. */
  priority?: number;
  /** Caller of the job: among many due jobs, callers take turns. All jobs without one count as one caller. */
  caller?: JobCaller;
}

/** Default number of attempts. The tenth comes about three and a half hours after the first. */
export const DEFAULT_ATTEMPTS = 10;

/**
 * Purpose of a job. Each purpose has its own slots, so its jobs never wait for jobs of another purpose:
 * - `work`: work that a caller waits for, such as waking a Task. The default.
 * - `push`: short steps of push notifications. The notifications themselves are sent outside job slots.
 * - `upkeep`: purges and other housekeeping, which may take hours.
 */
export type JobPurpose = 'work' | 'push' | 'upkeep';

/** Context of one attempt at a job. */
export interface JobContext {
  /** Aborts after the grace time of a shutdown. The job then returns to the queue without counting the attempt. */
  readonly signal: AbortSignal;
  /** Number of the attempt, from 1. An attempt during which the replica died counts. */
  readonly attempt: number;
  /** True if a failure of this attempt is final. */
  readonly last: boolean;
}

export interface JobHandler<P> {
  /** Slots that its jobs use; `work` by default. */
  readonly purpose?: JobPurpose;
  /** Validates a stored payload. An error is a permanent failure. */
  read(payload: unknown): P;
  /**
   * Does the work. It may run again for a job that is already done, when another replica takes over a dead replica's
   * jobs.
   * A rejection is retried after e, e², e³ … seconds (at most six hours), up to the job's limit. A `PermanentJobError`
   * is not retried.
   */
  run(payload: P, context: JobContext): Promise<void>;
}

/** A failure that no retry can fix. */
export class PermanentJobError extends Error {
  override readonly name: string = 'PermanentJobError';
}

/**
 * A job that is enqueued at every matching minute (UTC), once for all replicas. It never runs twice at a time.
 * Entries that were due in the last hour while no replica ran are caught up once.
 */
export interface CronEntry {
  /** Name of the handler. */
  name: string;
  /** Five fields: minute, hour, day of the month, month, day of the week. */
  match: string;
  maxAttempts?: number;
}
