import type { TestDatabase } from './postgres.js';
import { type Deadline, until } from './until.js';

const PURGES = ['tasks.purge', 'tasks.purge-untimed'];

/**
 * Stops the scheduled purges of Tasks, which would delete Tasks that a test with a short retention still needs. Purges
 * that a test requests still run.
 */
export async function stopScheduledPurges(query: TestDatabase['query']): Promise<void> {
  await query(
    `INSERT INTO graphile_worker._private_known_crontabs (identifier, known_since, last_execution)
     SELECT identifier, now(), now() + interval '1 day' FROM unnest($1::text[]) AS identifier
     ON CONFLICT (identifier) DO UPDATE SET last_execution = excluded.last_execution`,
    [PURGES],
  );
  await lastPurge(query, PURGES);
}

/** Requests purges of Tasks until `gone` is true, and waits until no requested purge is left. */
export async function purgeUntil(
  query: TestDatabase['query'],
  gone: () => Promise<boolean>,
  { purges = PURGES.slice(0, 1), ...options }: Deadline & { purges?: string[] } = {},
): Promise<void> {
  await until(
    async () => {
      for (const job of purges)
        await query('SELECT graphile_worker.add_job($1, queue_name => $1, job_key => $1)', [job]);
      return gone();
    },
    { what: 'the purge', ...options },
  );
  await lastPurge(query, purges);
}

async function lastPurge(query: TestDatabase['query'], purges: string[]): Promise<void> {
  const left = 'SELECT FROM graphile_worker.jobs WHERE task_identifier = ANY($1)';
  await until(async () => (await query(left, [purges])).length === 0, { what: 'the last purge to be over' });
}
