import { DEFAULT_ATTEMPTS, type Job } from './job.js';

/**
 * A query that enqueues jobs within a statement of the caller, so that they commit with it. As a part of a statement it
 * must be `AS MATERIALIZED`, and read: PostgreSQL leaves out what nobody reads.
 * @param source rows of `name text, payload json, key text, run_at timestamptz, max_attempts int, priority int`
 */
export function enqueueFrom(source: string): string {
  return `
  SELECT count(*)::int AS jobs FROM graphile_worker.add_jobs(ARRAY(
    SELECT (job.name, job.payload, NULL, job.run_at, coalesce(job.max_attempts, ${DEFAULT_ATTEMPTS})::smallint, job.key,
            coalesce(job.priority, 0)::smallint, NULL)::graphile_worker.job_spec
    FROM ${source} AS job (name, payload, key, run_at, max_attempts, priority)))`;
}

/** The statement that does only that. */
export const ENQUEUE = enqueueFrom(
  'unnest($1::text[], $2::json[], $3::text[], $4::timestamptz[], $5::int[], $6::int[])',
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
  ];
}
