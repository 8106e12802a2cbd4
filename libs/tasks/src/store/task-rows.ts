import { Column, Entity, PrimaryColumn, ViewEntity } from 'typeorm';
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

/** Row of a Task with its snapshot, or with the text of its log (LOG_TEXT). A Task with a large log has neither. */
export interface StoredRow extends HeaderRow {
  /** True if this read measured the sizes of the log, because none are stored. */
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

/** Row of a Task. Read-only: the journal writes the rows. */
@Entity('task')
export class TaskRow {
  static readonly readOnly = true;

  @PrimaryColumn('text') task_id!: string;
  @Column('text') context_id!: string;
  @Column('text') tenant!: string;
  @Column('text') owner!: string;
  /** Path of the Task's agent; `''` is the service. */
  @Column('text') agent!: string;
  @Column('text') state!: TaskState;
  /** Number of events in the Task's log. */
  @Column('integer') last_sequence!: number;
  @Column('text', { nullable: true }) parent_task_id!: string | null;
  @Column('text', { nullable: true }) parent_reference!: string | null;
  /** Replica that has the claim: the right to write the Task. */
  @Column('text', { nullable: true }) replica_id!: string | null;
  @Column('text', { nullable: true }) claim_token!: string | null;
  @Column('timestamptz', { nullable: true }) cancel_requested_at!: Date | null;
  @Column('timestamptz', { nullable: true }) wake_at!: Date | null;
  /** Bytes of the Task's log, and of the Artifact events in it; null if they have not been measured. */
  @Column('integer', { nullable: true }) log_bytes!: number | null;
  @Column('integer', { nullable: true }) artifact_bytes!: number | null;
  /** True if a webhook receives the Task's events. */
  @Column('boolean') pushes!: boolean;
  /** True if the Task is a run that has a slot or waits for one (table `run_slot`). */
  @Column('boolean') has_run_slot!: boolean;
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz') updated_at!: Date;
}

/** Event of a Task's log, in either row layout. Read-only. */
@ViewEntity({ name: 'task_event', expression: '', synchronize: false })
export class TaskEventView {
  static readonly readOnly = true;

  @Column('text', { nullable: true }) task_id!: string;
  /** Sequence in the Task's log, from 1 without gaps. */
  @Column('integer', { nullable: true }) sequence!: number;
  /** The event as a StreamResponse. Select it as text to get it as written: parsing rounds large numbers. */
  @Column('json', { nullable: true, select: false }) payload!: unknown;
  /** Message that a status update received. */
  @Column('json', { nullable: true, select: false }) received!: unknown;
  @Column('timestamptz', { nullable: true }) recorded_at!: Date;
  /** True for an event of an Artifact. */
  @Column('boolean', { nullable: true }) artifact!: boolean;
  /** Sequence of the last event in the same row. With it, rows are found by index, in the order of the log. */
  @Column('integer', { nullable: true }) row_sequence!: number;
}

/** Terminal states of a Task, as SQL. */
export const ENDED = `('TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED')`;

/**
 * SQL statement that stores a request to cancel the Task `$1`, as TaskStore.requestCancel does. Callers that write more
 * in the same statement may add conditions and a RETURNING clause.
 */
export const CANCEL_WISH = `
  UPDATE task SET cancel_requested_at = coalesce(cancel_requested_at, now()), wake_at = least(wake_at, now())
  WHERE task_id = $1 AND state NOT IN ${ENDED}`;

/** SQL query that finds a row for each Task that has not ended. The execution of such a Task may call other agents. */
export const TASKS_UNDER_WAY = `SELECT FROM task WHERE state NOT IN ${ENDED}`;
