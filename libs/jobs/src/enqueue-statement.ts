import { DEFAULT_ATTEMPTS, type Job } from './job.js';
import { callerFlag } from './job-caller.js';

/**
 * A query that enqueues jobs within a statement of the caller, so that they commit with it. As a part of a statement it
 * must be `AS MATERIALIZED`, and read: PostgreSQL leaves out what nobody reads. Its jobs are nobody's.
 * @param source rows of `name text, payload json, key text, run_at timestamptz, max_attempts int, priority int`
 */
export function enqueueFrom(source: string): string {
  return enqueue(`${source} AS job (name, payload, key, run_at, max_attempts, priority)`, 'NULL');
}

/**
 * Enqueues like `enqueueFrom`, for callers.
 * @param source rows with one more column, `caller text`: a caller's flag (see `callerFlag`), or null
 */
export function enqueueForCallersFrom(source: string): string {
  return enqueue(
    `${source} AS job (name, payload, key, run_at, max_attempts, priority, caller)`,
    'CASE WHEN job.caller IS NOT NULL THEN ARRAY[job.caller] END',
  );
}

function enqueue(jobs: string, flags: string): string {
  return `
  SELECT count(*)::int AS jobs FROM graphile_worker.add_jobs(ARRAY(
    SELECT (job.name, job.payload, NULL, job.run_at, coalesce(job.max_attempts, ${DEFAULT_ATTEMPTS})::smallint, job.key,
            coalesce(job.priority, 0)::smallint, ${flags})::graphile_worker.job_spec
    FROM ${jobs}))`;
}

/** The statement that does only that. */
export const ENQUEUE = enqueueForCallersFrom(
  'unnest($1::text[], $2::json[], $3::text[], $4::timestamptz[], $5::int[], $6::int[], $7::text[])',
);

/** Its parameters. */
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
