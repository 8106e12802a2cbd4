import { Injectable } from '@nestjs/common';
import { Database } from '#libs/postgres';
import type { TaskEvent } from '../fold/task-event.js';
import { ROW_TEXT, toEvents } from '../journal/log-row.js';
import type { TaskScope } from './task-store.js';

/** Maximum bytes of a log row that is read. A row with a failure that has the longest permitted text is smaller. */
const ROW_BYTES = 20 * 1024;

interface EndingRow {
  task_id: string;
  context_id: string;
  last_sequence: number;
  sequence: number;
  text: string;
}

/**
 * Reads the last events of many Tasks in one statement: at most two log rows of at most `ROW_BYTES` per Task. Larger
 * rows are omitted.
 */
@Injectable()
export class TaskEndings {
  constructor(private readonly database: Database) {}

  /**
   * Returns the last two events of each Task, by Task id. Events in rows larger than `ROW_BYTES` are omitted. Finds
   * only Tasks in the scope.
   */
  async readEndings(scope: TaskScope, taskIds: readonly string[]): Promise<Map<string, TaskEvent[]>> {
    if (taskIds.length === 0) return new Map();
    const { rows } = await this.database.reads.queryInTurn<EndingRow>(scope, {
      text: ENDINGS,
      values: [scope.tenant, scope.owner, taskIds, ROW_BYTES],
    });
    const found = Map.groupBy(rows, ({ task_id: taskId }) => taskId);
    return new Map(Array.from(found, ([taskId, ends]) => [taskId, ends.flatMap(lastEvents)]));
  }
}

function lastEvents({ task_id: taskId, context_id: contextId, text, sequence, last_sequence }: EndingRow): TaskEvent[] {
  const events = toEvents({ taskId, contextId }, text, sequence);
  return events.filter((it) => it.sequence >= last_sequence - 1).map(({ event }) => event);
}

// Two rows of each Task, found by the key of the log.
const ENDINGS = `
  SELECT task.task_id, task.context_id, task.last_sequence, log.sequence, log.text
  FROM unnest($3::text[]) AS wanted (task_id)
  JOIN task ON task.task_id = wanted.task_id AND task.tenant = $1 AND task.owner = $2
  CROSS JOIN LATERAL (
    SELECT sequence, ${ROW_TEXT} AS text FROM task_log
    WHERE task_log.task_id = task.task_id AND sequence >= task.last_sequence - 1
    ORDER BY sequence LIMIT 2
  ) AS log
  WHERE octet_length(log.text) <= $4
  ORDER BY task.task_id, log.sequence`;
