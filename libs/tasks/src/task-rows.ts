import type { TaskState } from '#libs/protocol';
import type { TaskHeader } from './task-store.js';

export const HEADER_COLUMNS = `task.task_id, task.context_id, task.tenant, task.owner, task.agent, task.state,
  task.last_sequence, task.parent_task_id, task.parent_reference, task.created_at, task.updated_at, task.wake_at,
  task.cancel_requested_at IS NOT NULL AS cancel_requested`;

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
  cancel_requested: boolean;
  log_bytes?: number | null;
  artifact_bytes?: number | null;
}

/** Row of a Task with its snapshot, or with its log as built by LOG_TEXT. */
export interface StoredRow extends HeaderRow {
  /** True if the sizes were measured in this read, because none are stored. */
  measured: boolean;
  folded: string | null;
  artifacts: string | null;
  events: string | null;
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
    ...(row.cancel_requested && { cancelRequested: true }),
    ...sizeOf(row),
  };
}

function sizeOf({ log_bytes: log, artifact_bytes: artifacts }: HeaderRow): Pick<TaskHeader, 'size'> {
  return typeof log === 'number' && typeof artifacts === 'number' ? { size: { log, artifacts } } : {};
}
