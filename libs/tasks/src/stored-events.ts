import type { Pool } from 'pg';
import { MOST_EVENTS, ROW_TEXT, toEvents } from './log-row.js';
import type { RecordedEvent } from './task-event.js';

/** Reads at most `limit` events of a log after a sequence, in order. */
export async function eventsOver(
  pool: Pick<Pool, 'query'>,
  taskId: string,
  after: number,
  limit: number,
): Promise<RecordedEvent[]> {
  const { rows } = await pool.query<{ sequence: number; text: string; context_id: string }>({
    name: 'task-events',
    text: EVENTS,
    values: [taskId, after, limit],
  });
  const events = rows.flatMap((row) => toEvents({ taskId, contextId: row.context_id }, row.text, row.sequence));
  const first = events.findIndex(({ sequence }) => sequence > after);
  return first < 0 ? [] : events.slice(first, first + limit);
}

/** The first row may begin before the wanted events, the last one end after them. */
const EVENTS = `
  SELECT sequence, ${ROW_TEXT} AS text, (SELECT context_id FROM task WHERE task_id = $1) AS context_id
  FROM task_log
  WHERE task_id = $1 AND sequence > $2 AND sequence < $2::bigint + $3 + ${MOST_EVENTS} ORDER BY sequence LIMIT $3`;
