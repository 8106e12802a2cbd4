import { isTerminalState, isWaitingState } from '#libs/protocol';
import type { JournalEntry } from './task-store.js';

/**
 * Writes a whole batch in one statement, hence in one commit. A Task's events are inserted only if its row was: a new
 * row, or one that still carries this writer's token at the sequence the writer believes in and has not ended. The ids
 * of the Tasks that were written come back; the others are fenced and left no trace.
 */
export const WRITE_BATCH = `
WITH created AS (
  INSERT INTO task (task_id, context_id, tenant, owner, agent, parent_task_id, parent_reference, replica_id,
                    claim_token, state, last_sequence, created_at, updated_at)
  SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
                       $9::text[], $10::text[], $11::int[], $12::timestamptz[], $13::timestamptz[])
  ON CONFLICT (task_id) DO NOTHING
  RETURNING task_id
), continued AS (
  UPDATE task SET
    state = entry.state,
    last_sequence = entry.last_sequence,
    updated_at = entry.updated_at,
    replica_id = CASE WHEN entry.settled THEN NULL ELSE task.replica_id END,
    claim_token = CASE WHEN entry.settled THEN NULL ELSE task.claim_token END
  FROM unnest($14::text[], $15::text[], $16::int[], $17::int[], $18::text[], $19::timestamptz[], $20::boolean[])
    AS entry (task_id, token, after, last_sequence, state, updated_at, settled)
  WHERE task.task_id = entry.task_id AND task.claim_token = entry.token AND task.last_sequence = entry.after
    AND task.state NOT IN ('TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED')
  RETURNING task.task_id
), written AS (
  SELECT task_id FROM created UNION ALL SELECT task_id FROM continued
), logged AS (
  INSERT INTO task_event (task_id, sequence, payload, received, recorded_at)
  SELECT event.task_id, event.sequence, event.payload, event.received, now()
  FROM unnest($21::text[], $22::int[], $23::json[], $24::json[]) AS event (task_id, sequence, payload, received)
  JOIN written ON written.task_id = event.task_id
)
SELECT task_id FROM written`;

/** The statement's 24 column arrays. */
export function batchParameters(batch: readonly JournalEntry[]): unknown[][] {
  const columns: unknown[][] = Array.from({ length: 24 }, () => []);
  for (const entry of batch) {
    if (entry.create) pushRow(columns, 0, createdRow(entry, entry.create));
    else pushRow(columns, 13, continuedRow(entry));
    for (const recorded of entry.events) {
      const { event } = recorded;
      const received = 'statusUpdate' in event && event.received ? JSON.stringify(event.received) : null;
      pushRow(columns, 20, [recorded.taskId, recorded.sequence, recorded.json, received]);
    }
  }
  return columns;
}

/** Whether an entry leaves its Task without a writer. */
export function isSettled(entry: JournalEntry): boolean {
  return isTerminalState(entry.state) || isWaitingState(entry.state);
}

function createdRow(entry: JournalEntry, create: NonNullable<JournalEntry['create']>): unknown[] {
  const { header } = create;
  const settled = isSettled(entry);
  return [
    header.taskId,
    header.contextId,
    header.tenant,
    header.owner,
    header.agent,
    header.parentTaskId ?? null,
    header.parentReference ?? null,
    settled ? null : create.replicaId,
    settled ? null : entry.token,
    entry.state,
    lastSequence(entry),
    header.createdAt.toISOString(),
    entry.updatedAt.toISOString(),
  ];
}

function continuedRow(entry: JournalEntry): unknown[] {
  return [
    entry.taskId,
    entry.token,
    entry.after,
    lastSequence(entry),
    entry.state,
    entry.updatedAt.toISOString(),
    isSettled(entry),
  ];
}

function lastSequence(entry: JournalEntry): number {
  return entry.after + entry.events.length;
}

function pushRow(columns: unknown[][], offset: number, row: readonly unknown[]): void {
  for (let index = 0; index < row.length; index += 1) columns[offset + index]!.push(row[index]);
}
