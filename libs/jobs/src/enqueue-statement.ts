import { callerFlag, DEFAULT_ATTEMPTS, type Job } from './job.js';

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
