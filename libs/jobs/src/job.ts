import type { JobCaller } from './job-caller.js';

/** Work for later. It lies in PostgreSQL until some replica has done it, at least once. */
export interface Job {
  /** The handler's. */
  name: string;
  payload: Readonly<Record<string, unknown>>;
  /**
   * Of the jobs that have not begun, at most one has a key: a new one takes the place of the old one. A key occurs at
   * most once among jobs that are enqueued together.
   */
  key?: string;
  /** Not before; absent: at once. */
  runAt?: Date;
  /** How often it is tried in all; `DEFAULT_ATTEMPTS` unless set otherwise. */
  maxAttempts?: number;
  /** Jobs of one caller with a smaller number go first; 0 unless set otherwise. */
  priority?: number;
  /** Whose work it is: among many due jobs, callers take turns. Jobs without one are of one caller together. */
  caller?: JobCaller;
}

/** The tenth attempt comes about three and a half hours after the first. */
export const DEFAULT_ATTEMPTS = 10;

/**
 * Purpose of a job. Each purpose has its own slots, so jobs of one purpose never wait for those of another:
 * - `work`: what somebody waits for, such as waking a Task. The default.
 * - `push`: short steps of push notifications; the notifications themselves are sent outside job slots.
 * - `upkeep`: purges and other housekeeping, which may take hours.
 */
export type JobPurpose = 'work' | 'push' | 'upkeep';

/** One attempt at a job, as its handler sees it. */
export interface JobContext {
  /** Aborts when the replica has to end, after the grace time: the job then goes back to the queue, as if not tried. */
  readonly signal: AbortSignal;
  /** Counts from 1. A replica that died on it counts too. */
  readonly attempt: number;
  /** Whether a failure of this attempt is final. */
  readonly last: boolean;
}

export interface JobHandler<P> {
  /** Which slots its jobs take; `work` unless set otherwise. */
  readonly purpose?: JobPurpose;
  /** Checks a payload as it came out of the database; what it throws is a permanent failure. */
  read(payload: unknown): P;
  /**
   * Does the work. May be called again for a job that was done: by a replica that took a dead one's jobs over.
   * A rejection is tried again after e, e², e³ … seconds (at most six hours), up to the job's limit; a
   * `PermanentJobError` is not.
   */
  run(payload: P, context: JobContext): Promise<void>;
}

/** A job that cannot succeed however often it is tried. */
export class PermanentJobError extends Error {
  override readonly name: string = 'PermanentJobError';
}

/**
 * A job of its own at every matching minute (UTC), once for all replicas. It never runs twice at a time.
 * What was due in the last hour while no replica ran is made up for once.
 */
export interface CronEntry {
  /** The handler's. */
  name: string;
  /** Five fields: minute, hour, day of the month, month, day of the week. */
  match: string;
  maxAttempts?: number;
}
