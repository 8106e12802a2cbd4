import type { StreamResponse, TaskState } from '#libs/protocol';
import type { TestDatabase } from './postgres.js';
import { range } from './sse.js';

/** Row and log of a Task, as stored in the database. */
export interface StoredLog {
  taskId: string;
  agent: string;
  /** Id of the Task that called for this one, if any. */
  parentTaskId?: string | null;
  state: TaskState;
  lastSequence: number;
  /** True if a replica still claims the Task. */
  claimed: boolean;
  /** Events in order. `at` is the time of the record, `received` the id of the Message that the event accepted. */
  events: { sequence: number; json: string; at: string; received: string | null }[];
}

type Query = TestDatabase['query'];

const ENDED = ['TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED'];

/** Reads the rows and logs of these Tasks; default: of all Tasks. */
export async function storedLogs(query: Query, taskIds?: readonly string[]): Promise<StoredLog[]> {
  return query<StoredLog & Record<string, unknown>>(
    `SELECT task_id AS "taskId", agent, parent_task_id AS "parentTaskId", state, last_sequence AS "lastSequence", replica_id IS NOT NULL AS claimed,
       coalesce((SELECT json_agg(json_build_object('sequence', e.sequence, 'json', e.payload::text, 'at', e.recorded_at,
                                                    'received', e.received->>'messageId')
                                 ORDER BY e.sequence) FROM task_event e WHERE e.task_id = task.task_id), '[]') AS events
     FROM task WHERE $1::text[] IS NULL OR task_id = ANY($1) ORDER BY task_id`,
    [taskIds ?? null],
  );
}

/** Reads the rows and logs of all Tasks page by page, in the order of their ids. */
export async function* storedPages(query: Query, size = 1_000): AsyncGenerator<StoredLog[]> {
  for (let last = ''; ;) {
    const rows = await query<{ id: string }>(
      'SELECT task_id AS id FROM task WHERE task_id > $1 ORDER BY task_id LIMIT $2',
      [last, size],
    );
    if (rows.length === 0) return;
    yield await storedLogs(
      query,
      rows.map(({ id }) => id),
    );
    last = rows.at(-1)?.id ?? '';
  }
}

export async function storedLog(query: Query, taskId: string): Promise<StoredLog> {
  const [log] = await storedLogs(query, [taskId]);
  if (log === undefined) throw new Error(`The database has no task ${taskId}`);
  return log;
}

/**
 * Returns the violations of what every log must satisfy: sequences 1..n without gaps, at most one end with nothing
 * after it, and agreement with the Task's row.
 */
export function logProblems(log: StoredLog): string[] {
  const sequences = log.events.map(({ sequence }) => sequence);
  const states = log.events.map(({ json }) => stateOf(JSON.parse(json) as StreamResponse));
  const ends = states.filter((state) => state !== undefined && ENDED.includes(state));
  const problems = {
    'a gap or a double': sequences.join() !== range(1, sequences.length).join(),
    'another length than its row says': sequences.length !== log.lastSequence,
    'more than one end': ends.length > 1,
    'events after its end': ends.length === 1 && !ENDED.includes(states.at(-1) ?? ''),
    'another state than its row': states.findLast((state) => state !== undefined) !== log.state,
    'an end and yet a claim': ENDED.includes(log.state) && log.claimed,
  };
  return Object.entries(problems).flatMap(([what, is]) =>
    is ? [`task ${log.taskId} (${log.agent}) has ${what}`] : [],
  );
}

/** True if the Task has ended. */
export function hasEnded({ state }: Pick<StoredLog, 'state'>): boolean {
  return ENDED.includes(state);
}

export function stateOf(event: StreamResponse): TaskState | undefined {
  if ('task' in event) return event.task.status.state;
  return 'statusUpdate' in event ? event.statusUpdate.status.state : undefined;
}
