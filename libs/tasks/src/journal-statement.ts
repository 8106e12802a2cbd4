import { enqueueFrom } from '#libs/platform';
import { isTerminalState, isWaitingState } from '#libs/protocol';
import type { QueryConfig } from 'pg';
import { BinaryArray } from './binary-array.js';
import type { Idempotency, JournalEntry, TaskHeader } from './task-store.js';

/**
 * The settings of the sessions that write batches. A batch is small and the tables are large, so every look-up must go
 * by its index, whatever the statistics say: a plan made while the table was empty would read all of it ever after.
 */
export const JOURNAL_SETTINGS = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  jit: 'off',
  // Its statements need no check that a Task has not ended: they make it themselves.
  'parley.journal': 'on',
};

/** The session setting that names who writes the commits of a process (see POSITIONED). */
export const WRITER_SETTING = 'parley.writer';

const ENDED = `('TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED')`;

const CREATED = `
  INSERT INTO task (task_id, context_id, tenant, owner, agent, parent_task_id, parent_reference, replica_id,
                    claim_token, state, last_sequence, created_at, updated_at)
  SELECT * FROM unnest($5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[],
                       $13::text[], $14::text[], $15::int[], $16::timestamptz[], $17::timestamptz[]) AS fresh (task_id)`;

const MADE = `
  ON CONFLICT (task_id) DO NOTHING
  RETURNING task_id, 0 AS after, last_sequence`;

const CONTINUED = `
  UPDATE task SET
    state = entry.state,
    last_sequence = entry.last_sequence,
    updated_at = entry.updated_at,
    replica_id = CASE WHEN entry.settled THEN NULL ELSE task.replica_id END,
    claim_token = CASE WHEN entry.settled THEN NULL ELSE task.claim_token END
  FROM unnest($18::text[], $19::text[], $20::int[], $21::int[], $22::text[], $23::timestamptz[], $24::boolean[])
    AS entry (task_id, token, after, last_sequence, state, updated_at, settled)
  WHERE task.task_id = entry.task_id AND task.claim_token = entry.token AND task.last_sequence = entry.after
    AND task.state NOT IN ${ENDED}`;

const MOVED = `
  RETURNING task.task_id, entry.after, task.last_sequence`;

// IS TRUE keeps the planner from making a join of it: the ids that were written are hashed once.
const LOGGED = `
  INSERT INTO task_event (task_id, sequence, payload, received, recorded_at)
  SELECT task_id, sequence, payload, received, now()
  FROM unnest($1::text[], $2::int[], $3::json[], $4::json[]) AS event (task_id, sequence, payload, received)
  WHERE (event.task_id IN (SELECT task_id FROM written)) IS TRUE`;

// A writer's positions grow in the order of its commits: its row is locked until the commit, so that of two commits the
// one with the smaller position is always seen first, which holds for no sequence and no clock. A new row begins at the
// clock, ahead of whatever an earlier row of that name had reached.
const POSITIONED = `
positioned AS (
  INSERT INTO task_writer AS held (writer, position)
  SELECT current_setting('${WRITER_SETTING}'), (extract(epoch FROM now()) * 1000)::bigint FROM written LIMIT 1
  ON CONFLICT (writer) DO UPDATE SET position = held.position + 1
  RETURNING writer, position
),
committed AS (
  INSERT INTO task_commit (writer, position, task_ids, afters, last_sequences, committed_at)
  SELECT positioned.writer, positioned.position, array_agg(task_id), array_agg(after), array_agg(last_sequence), now()
  FROM positioned, written GROUP BY positioned.writer, positioned.position
)`;

const BOTH =
  'SELECT task_id, after, last_sequence FROM created UNION ALL SELECT task_id, after, last_sequence FROM continued';

/**
 * Writes a whole batch in one statement, hence in one commit. A Task's events are inserted only if its row was: a new
 * row, or one that still carries this writer's token at the sequence the writer believes in and has not ended. The ids
 * of the Tasks that were written come back; the others are fenced and left no trace.
 */
const WRITE_BATCH = `
WITH created AS (${CREATED}${MADE}), continued AS (${CONTINUED}${MOVED}),
written AS (${BOTH}),
logged AS (${LOGGED}),${POSITIONED}
SELECT task_id FROM written`;

/** The same for a batch of new Tasks alone; it takes the first 17 arrays. */
const CREATE_BATCH = `
WITH written AS (${CREATED}${MADE}), logged AS (${LOGGED}),${POSITIONED}
SELECT task_id FROM written`;

/**
 * The same as WRITE_BATCH for a batch with idempotency keys. Whoever keeps a key first makes its Task, or goes on with it;
 * another Task under the key is not made, and another Message not taken in, as if they were fenced. A follow-up keeps its
 * key only where its claim holds: the row is locked first, so that it still holds when the row is written.
 */
const WRITE_KEYED = `
WITH held AS (
  SELECT task.task_id
  FROM task JOIN unnest($18::text[], $19::text[], $20::int[]) AS entry (task_id, token, after) USING (task_id)
  WHERE task.task_id = ANY ($25::text[]) AND task.claim_token = entry.token AND task.last_sequence = entry.after
    AND task.state NOT IN ${ENDED}
  FOR UPDATE OF task
),
kept AS (
  INSERT INTO task_key (task_id, tenant, owner, agent, key, fingerprint, sequence, created_at)
  SELECT keyed.*, now()
  FROM unnest($25::text[], $26::text[], $27::text[], $28::text[], $29::text[], $30::text[], $31::int[])
    AS keyed (task_id, tenant, owner, agent, key, fingerprint, sequence)
  WHERE keyed.sequence = 1 OR keyed.task_id = ANY (ARRAY(SELECT task_id FROM held))
  ON CONFLICT (tenant, owner, agent, key) DO NOTHING
  RETURNING task_id
),
created AS (${CREATED}
  WHERE fresh.task_id <> ALL ($25) OR fresh.task_id = ANY (ARRAY(SELECT task_id FROM kept))${MADE}),
continued AS (${CONTINUED}
    AND (task.task_id <> ALL ($25) OR task.task_id = ANY (ARRAY(SELECT task_id FROM kept)))${MOVED}),
written AS (${BOTH}),
logged AS (${LOGGED}),${POSITIONED}`;

const WRITE_KEYED_BATCH = `${WRITE_KEYED}
SELECT task_id FROM written`;

/** The same for a batch with jobs; those of the Tasks that were written are enqueued. */
const WRITE_BATCH_WITH_JOBS = `${WRITE_KEYED},
queued AS MATERIALIZED (${enqueueFrom(`(
  SELECT name, payload, key, run_at, max_attempts, priority
  FROM unnest($32::text[], $33::text[], $34::json[], $35::text[], $36::timestamptz[], $37::int[], $38::int[])
    AS wanted (task_id, name, payload, key, run_at, max_attempts, priority)
  WHERE (wanted.task_id IN (SELECT task_id FROM written)) IS TRUE)`)})
SELECT task_id FROM written, queued`;

/** The statement for a batch and its columns. */
export function batchStatement(batch: readonly JournalEntry[]): QueryConfig {
  const onlyNew = batch.every((entry) => entry.create);
  const events = newColumns(EVENT_COLUMNS);
  const created = newColumns(CREATED_COLUMNS);
  const continued = newColumns(CONTINUED_COLUMNS);
  const keyed = batch.flatMap((entry) => keyOf(entry) ?? []);
  const wanting = batch.filter((entry) => entry.jobs);
  for (const entry of batch) {
    addEvents(events, entry);
    if (entry.create) addCreated(created, entry, entry.create);
    else addContinued(continued, entry);
  }
  const values = [...buffersOf(events), ...buffersOf(created)];
  if (onlyNew && keyed.length + wanting.length === 0) return { name: 'journal-create', text: CREATE_BATCH, values };
  values.push(...buffersOf(continued));
  if (keyed.length + wanting.length === 0) return { name: 'journal-write', text: WRITE_BATCH, values };
  values.push(...buffersOf(keyColumns(keyed)));
  if (wanting.length === 0) return { name: 'journal-keyed', text: WRITE_KEYED_BATCH, values };
  return { name: 'journal-jobs', text: WRITE_BATCH_WITH_JOBS, values: [...values, ...buffersOf(jobColumns(wanting))] };
}

// In the order in which the statements count their parameters.
const EVENT_COLUMNS = { taskId: 'text', sequence: 'integer', payload: 'json', received: 'json' } as const;

const CREATED_COLUMNS = {
  taskId: 'text',
  contextId: 'text',
  tenant: 'text',
  owner: 'text',
  agent: 'text',
  parentTaskId: 'text',
  parentReference: 'text',
  replicaId: 'text',
  token: 'text',
  state: 'text',
  lastSequence: 'integer',
  createdAt: 'timestamp',
  updatedAt: 'timestamp',
} as const;

const CONTINUED_COLUMNS = {
  taskId: 'text',
  token: 'text',
  after: 'integer',
  lastSequence: 'integer',
  state: 'text',
  updatedAt: 'timestamp',
  settled: 'boolean',
} as const;

const KEY_COLUMNS = {
  taskId: 'text',
  tenant: 'text',
  owner: 'text',
  agent: 'text',
  key: 'text',
  fingerprint: 'text',
  sequence: 'integer',
} as const;

const JOB_COLUMNS = {
  taskId: 'text',
  name: 'text',
  payload: 'json',
  key: 'text',
  runAt: 'timestamp',
  maxAttempts: 'integer',
  priority: 'integer',
} as const;

type Columns<T> = { [name in keyof T]: BinaryArray };

function addEvents(columns: Columns<typeof EVENT_COLUMNS>, { taskId, events }: JournalEntry): void {
  for (const { sequence, event, json } of events) {
    columns.taskId.text(taskId);
    columns.sequence.integer(sequence);
    columns.payload.text(json);
    const received = 'statusUpdate' in event ? event.received : undefined;
    columns.received.optional(received && JSON.stringify(received));
  }
}

function addCreated(
  columns: Columns<typeof CREATED_COLUMNS>,
  entry: JournalEntry,
  { header, replicaId }: NonNullable<JournalEntry['create']>,
): void {
  const settled = isSettled(entry);
  columns.taskId.text(header.taskId);
  columns.contextId.text(header.contextId);
  columns.tenant.text(header.tenant);
  columns.owner.text(header.owner);
  columns.agent.text(header.agent);
  columns.parentTaskId.optional(header.parentTaskId);
  columns.parentReference.optional(header.parentReference);
  columns.replicaId.optional(settled ? undefined : replicaId);
  columns.token.optional(settled ? undefined : entry.token);
  columns.state.text(entry.state);
  columns.lastSequence.integer(entry.after + entry.events.length);
  columns.createdAt.timestamp(header.createdAt);
  columns.updatedAt.timestamp(entry.updatedAt);
}

function addContinued(columns: Columns<typeof CONTINUED_COLUMNS>, entry: JournalEntry): void {
  columns.taskId.text(entry.taskId);
  columns.token.text(entry.token);
  columns.after.integer(entry.after);
  columns.lastSequence.integer(entry.after + entry.events.length);
  columns.state.text(entry.state);
  columns.updatedAt.timestamp(entry.updatedAt);
  columns.settled.boolean(isSettled(entry));
}

interface Keyed {
  header: TaskHeader;
  idempotency: Idempotency;
  sequence: number;
}

function keyOf({ create, keyed, after }: JournalEntry): Keyed | undefined {
  if (keyed) return { ...keyed, sequence: after + 1 };
  return create?.idempotency && { header: create.header, idempotency: create.idempotency, sequence: after + 1 };
}

function keyColumns(keys: readonly Keyed[]): Columns<typeof KEY_COLUMNS> {
  const columns = newColumns(KEY_COLUMNS);
  for (const { header, idempotency, sequence } of keys) {
    columns.taskId.text(header.taskId);
    columns.tenant.text(header.tenant);
    columns.owner.text(header.owner);
    columns.agent.text(header.agent);
    columns.key.text(idempotency.key);
    columns.fingerprint.text(idempotency.fingerprint);
    columns.sequence.integer(sequence);
  }
  return columns;
}

function jobColumns(entries: readonly JournalEntry[]): Columns<typeof JOB_COLUMNS> {
  const columns = newColumns(JOB_COLUMNS);
  for (const { taskId, jobs = [] } of entries) {
    for (const job of jobs) {
      columns.taskId.text(taskId);
      columns.name.text(job.name);
      columns.payload.text(JSON.stringify(job.payload));
      columns.key.optional(job.key);
      if (job.runAt) columns.runAt.timestamp(job.runAt);
      else columns.runAt.null();
      if (job.maxAttempts !== undefined) columns.maxAttempts.integer(job.maxAttempts);
      else columns.maxAttempts.null();
      if (job.priority !== undefined) columns.priority.integer(job.priority);
      else columns.priority.null();
    }
  }
  return columns;
}

/** A Task that has ended or waits has no writer. */
function isSettled(entry: JournalEntry): boolean {
  return isTerminalState(entry.state) || isWaitingState(entry.state);
}

function newColumns<T extends Record<string, ConstructorParameters<typeof BinaryArray>[0]>>(types: T): Columns<T> {
  return Object.fromEntries(Object.entries(types).map(([name, type]) => [name, new BinaryArray(type)])) as Columns<T>;
}

function buffersOf(columns: Record<string, BinaryArray>): Buffer[] {
  return Object.values(columns).map((column) => column.toBuffer());
}
