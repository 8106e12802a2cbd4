import type { TestDatabase } from './postgres.js';

interface EventRow {
  task_id: string;
  sequence: number;
  payload: string;
  received: string | null;
  recorded_at: Date;
}

/**
 * Rewrites logs into the form of an earlier version, which had no shared rows, and did not record which events belong
 * to Artifacts: each event gets its own row.
 * @param before number of the first event that is removed; absent: all events stay
 */
export async function asEarlierVersion(
  query: TestDatabase['query'],
  taskIds: readonly string[],
  before = 2 ** 31 - 1,
): Promise<void> {
  const events = await query<EventRow>(
    `SELECT task_id, sequence, payload::text, received::text, recorded_at FROM task_event
     WHERE task_id = ANY($1) AND sequence < $2`,
    [taskIds, before],
  );
  await query('DELETE FROM task_log WHERE task_id = ANY($1)', [taskIds]);
  const columns = (['task_id', 'sequence', 'payload', 'received', 'recorded_at'] as const).map((name) =>
    events.map((event) => event[name]),
  );
  // Tasks that have ended take no events, except from a journal.
  await query(
    `WITH journal AS MATERIALIZED (SELECT set_config('parley.journal', 'on', true))
     INSERT INTO task_event (task_id, sequence, payload, received, recorded_at)
     SELECT event.* FROM journal, unnest($1::text[], $2::int[], $3::json[], $4::json[], $5::timestamptz[]) AS event`,
    columns,
  );
}
