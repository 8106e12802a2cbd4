import type { Message, StreamResponse, TaskState } from '#libs/protocol';
import type { RecordedEvent, TaskEvent } from './task-event.js';
import type { TaskHeader } from './task-store.js';

export const HEADER_COLUMNS = `task.task_id, task.context_id, task.tenant, task.owner, task.agent, task.state,
  task.last_sequence, task.parent_task_id, task.parent_reference, task.created_at, task.updated_at, task.wake_at`;

export interface HeaderRow {
  task_id: string;
  context_id: string;
  tenant: string;
  owner: string;
  agent: string;
  state: TaskState;
  last_sequence: number;
  parent_task_id: string | null;
  parent_reference: string | null;
  created_at: Date;
  updated_at: Date;
  wake_at: Date | null;
  log_bytes?: number | null;
  artifact_bytes?: number | null;
}

/** A Task with its snapshot, or with its log, as LOG_TEXT makes one of it. */
export interface StoredRow extends HeaderRow {
  /** Whether its sizes are those of the log as it was read, because none are kept. */
  measured: boolean;
  folded: string | null;
  artifacts: string | null;
  events: string | null;
}

/** JSON has no control characters: these part events, and an event from the Message that it received. */
const EVENT_END = '\x1e';
const RECEIVED = '\x1f';

/** Rows of `task_event` as one text, for `toLog`. */
export const LOG_TEXT = `
  string_agg(payload::text || coalesce(E'\\x1f' || received::text, ''), E'\\x1e' ORDER BY sequence)`;

export interface EventRow {
  task_id: string;
  sequence: number;
  payload: string;
  received: string | null;
}

export function toHeader(row: HeaderRow): TaskHeader {
  return {
    taskId: row.task_id,
    contextId: row.context_id,
    tenant: row.tenant,
    owner: row.owner,
    agent: row.agent,
    state: row.state,
    lastSequence: row.last_sequence,
    ...(row.parent_task_id !== null && { parentTaskId: row.parent_task_id }),
    ...(row.parent_reference !== null && { parentReference: row.parent_reference }),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    ...(row.wake_at !== null && { wakeAt: row.wake_at }),
    ...sizeOf(row),
  };
}

/** Parses the event only when it is looked at: a stream that forwards a row needs its text alone. */
export function toRecordedEvent(row: EventRow): RecordedEvent {
  let event: TaskEvent | undefined;
  return {
    taskId: row.task_id,
    sequence: row.sequence,
    json: row.payload,
    get event(): TaskEvent {
      event ??= parseEvent(row);
      return event;
    },
  };
}

/** The events of a log, or of what was asked of it, from its beginning. */
export function toLog(taskId: string, text: string): RecordedEvent[] {
  return text.split(EVENT_END).map((event, index) => {
    const [payload = '', received = null] = event.split(RECEIVED);
    return toRecordedEvent({ task_id: taskId, sequence: index + 1, payload, received });
  });
}

function sizeOf({ log_bytes: log, artifact_bytes: artifacts }: HeaderRow): Pick<TaskHeader, 'size'> {
  return typeof log === 'number' && typeof artifacts === 'number' ? { size: { log, artifacts } } : {};
}

function parseEvent({ payload, received }: EventRow): TaskEvent {
  const response = JSON.parse(payload) as StreamResponse;
  if ('message' in response) throw new Error('A log holds something that is no task event');
  if (!('statusUpdate' in response) || received === null) return response;
  return { statusUpdate: response.statusUpdate, received: JSON.parse(received) as Message };
}
