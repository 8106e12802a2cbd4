import type { Pool } from 'pg';
import { HEADER_COLUMNS, type HeaderRow, toHeader } from './task-rows.js';
import type { TaskHeader } from './task-store.js';

/**
 * Returns the headers of Tasks that completed before a Task began (see `TaskStore.completedBefore`). The database
 * stamps each commit, so no clock of a replica takes part. The status time only limits which Tasks are compared.
 */
export async function completedBefore(pool: Pool, taskId: string, limit: number): Promise<TaskHeader[]> {
  const { rows } = await pool.query<HeaderRow>({
    name: 'tasks-completed-before',
    text: COMPLETED_BEFORE,
    values: [taskId, limit],
  });
  return rows.map(toHeader);
}

const COMPLETED_BEFORE = `
  SELECT ${HEADER_COLUMNS}, task.log_bytes, task.artifact_bytes
  FROM task AS own
  CROSS JOIN LATERAL (
    SELECT recorded_at FROM task_log WHERE task_id = own.task_id ORDER BY sequence LIMIT 1) AS begun
  CROSS JOIN LATERAL (
    SELECT * FROM task AS other
    WHERE other.tenant = own.tenant AND other.owner = own.owner AND other.agent = own.agent
      AND other.context_id = own.context_id AND other.state = 'TASK_STATE_COMPLETED'
    ORDER BY other.updated_at DESC, other.task_id DESC LIMIT $2) AS task
  CROSS JOIN LATERAL (
    SELECT recorded_at FROM task_log WHERE task_id = task.task_id ORDER BY sequence DESC LIMIT 1) AS ended
  WHERE own.task_id = $1 AND task.task_id <> own.task_id AND ended.recorded_at < begun.recorded_at
  ORDER BY ended.recorded_at DESC, task.task_id DESC`;
