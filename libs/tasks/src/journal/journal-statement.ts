import type { QueryConfig } from 'pg';
import { callerFlag } from '#libs/jobs';
import { isTerminalState, isWaitingState } from '#libs/protocol';
import { BinaryArray } from '#libs/service';
import { eventBytes } from '../fold/task-fold.js';
import type { Idempotency, JournalEntry, RevisionPrecondition, TaskHeader } from '../store/task-store.js';
import { type BatchShape, batchText } from './journal-sql.js';
import { type LogRow, toLogRows } from './log-row.js';

// The columns are in the order of the statements' parameters.
export const LOG_COLUMNS = { taskId: 'text', sequence: 'integer', events: 'text', artifact: 'boolean' } as const;

export const CREATED_COLUMNS = {
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
  logBytes: 'integer',
  artifactBytes: 'integer',
  wakeAt: 'timestamp',
} as const;

export const CONTINUED_COLUMNS = {
  taskId: 'text',
  token: 'text',
  after: 'integer',
  lastSequence: 'integer',
  state: 'text',
  updatedAt: 'timestamp',
  settled: 'boolean',
  logBytes: 'integer',
  artifactBytes: 'integer',
  wakeAt: 'timestamp',
} as const;

export const KEY_COLUMNS = {
  taskId: 'text',
  tenant: 'text',
  owner: 'text',
  agent: 'text',
  key: 'text',
  fingerprint: 'text',
  sequence: 'integer',
} as const;

/** Child Tasks of executions of this process, with their parents and the required holder of the parent's claim. */
export const CHILD_COLUMNS = { taskId: 'text', parentTaskId: 'text', holder: 'text' } as const;

export const JOB_COLUMNS = {
  taskId: 'text',
  name: 'text',
  payload: 'json',
  key: 'text',
  runAt: 'timestamp',
  maxAttempts: 'integer',
  priority: 'integer',
  caller: 'text',
} as const;

export const SNAPSHOT_COLUMNS = { taskId: 'text', sequence: 'integer', task: 'json', artifacts: 'json' } as const;

/** Premises of new Tasks, each once, and for each Task the number of its premise, from 1. */
export const PREMISE_COLUMNS = {
  tenant: 'text',
  name: 'text',
  version: 'text',
  taskId: 'text',
  position: 'integer',
} as const;

/** Files that Tasks name, with the owner of the Task. */
export const FILE_COLUMNS = { taskId: 'text', fileId: 'text', tenant: 'text', owner: 'text' } as const;

export const QUESTION_COLUMNS = {
  taskId: 'text',
  key: 'text',
  tenant: 'text',
  owner: 'text',
  agent: 'text',
  assignee: 'text',
  since: 'timestamp',
  body: 'json',
} as const;

export type CreatedValue = string | number | Date | undefined;

export type Columns<T> = { [name in keyof T]: BinaryArray };

function logColumns(rows: readonly LogRow[]): Columns<typeof LOG_COLUMNS> {
  const columns = newColumns(LOG_COLUMNS);
  for (const { taskId, sequence, events, artifact } of rows) {
    columns.taskId.addText(taskId);
    columns.sequence.addInteger(sequence);
    columns.events.addText(events);
    columns.artifact.addBoolean(artifact);
  }
  return columns;
}

/** Returns a new Task's row, in the order of the columns. */
function createdRow(entry: JournalEntry, create: NonNullable<JournalEntry['create']>): CreatedValue[] {
  const { header, replicaId } = create;
  const settled = isSettled(entry);
  const bytes = addedBytes(entry);
  return [
    header.taskId,
    header.contextId,
    header.tenant,
    header.owner,
    header.agent,
    header.parentTaskId,
    header.parentReference,
    settled ? undefined : replicaId,
    settled ? undefined : entry.token,
    entry.state,
    entry.after + entry.events.length,
    header.createdAt,
    entry.updatedAt,
    bytes.log,
    bytes.artifacts,
    entry.wakeAt,
  ];
}

function createdColumns(rows: readonly CreatedValue[][]): Columns<typeof CREATED_COLUMNS> {
  const columns = newColumns(CREATED_COLUMNS);
  for (const [index, column] of Object.values(columns).entries()) for (const row of rows) column.add(row[index]);
  return columns;
}

/** Returns the columns of the existing Tasks of a batch. */
function continuedColumns(batch: readonly JournalEntry[]): Columns<typeof CONTINUED_COLUMNS> {
  const columns = newColumns(CONTINUED_COLUMNS);
  for (const entry of batch) {
    if (entry.create) continue;
    columns.taskId.addText(entry.taskId);
    columns.token.addText(entry.token);
    columns.after.addInteger(entry.after);
    columns.lastSequence.addInteger(entry.after + entry.events.length);
    columns.state.addText(entry.state);
    columns.updatedAt.addTimestamp(entry.updatedAt);
    columns.settled.addBoolean(isSettled(entry));
    const bytes = addedBytes(entry);
    columns.logBytes.addInteger(bytes.log);
    columns.artifactBytes.addInteger(bytes.artifacts);
    columns.wakeAt.add(entry.wakeAt);
  }
  return columns;
}

/** Returns the bytes that the events add to the log, and those of Artifacts among them. */
function addedBytes({ events }: JournalEntry): { log: number; artifacts: number } {
  let [log, artifacts] = [0, 0];
  for (const { event, json } of events) {
    const bytes = eventBytes(event, json);
    log += bytes;
    if ('artifactUpdate' in event) artifacts += bytes;
  }
  return { log, artifacts };
}

export interface Keyed {
  header: TaskHeader;
  idempotency: Idempotency;
  sequence: number;
}

function keyedEntry({ create, keyed, after }: JournalEntry): Keyed | undefined {
  if (keyed) return { ...keyed, sequence: after + 1 };
  return create?.idempotency && { header: create.header, idempotency: create.idempotency, sequence: after + 1 };
}

function keyColumns(keys: readonly Keyed[]): Columns<typeof KEY_COLUMNS> {
  const columns = newColumns(KEY_COLUMNS);
  for (const { header, idempotency, sequence } of keys) {
    columns.taskId.addText(header.taskId);
    columns.tenant.addText(header.tenant);
    columns.owner.addText(header.owner);
    columns.agent.addText(header.agent);
    columns.key.addText(idempotency.key);
    columns.fingerprint.addText(idempotency.fingerprint);
    columns.sequence.addInteger(sequence);
  }
  return columns;
}

/**
 * Returns the columns of child Tasks. A child of a new parent depends on the parent's own caller: it is not created
 * unless its parent is.
 */
function childColumns(entries: readonly JournalEntry[]): Columns<typeof CHILD_COLUMNS> {
  const columns = newColumns(CHILD_COLUMNS);
  const made = new Map(entries.flatMap(({ taskId, create }) => (create ? [[taskId, create] as const] : [])));
  for (const { taskId, create } of entries) {
    if (create?.header.parentTaskId === undefined) continue;
    let caller = create;
    for (let above = parentIn(made, caller); above?.header.parentTaskId !== undefined; above = parentIn(made, above)) {
      caller = above;
    }
    columns.taskId.addText(taskId);
    columns.parentTaskId.addText(caller.header.parentTaskId ?? '');
    columns.holder.addText(caller.parentToken ?? caller.replicaId);
  }
  return columns;
}

type Creation = NonNullable<JournalEntry['create']>;

function parentIn(made: ReadonlyMap<string, Creation>, { header }: Creation): Creation | undefined {
  return header.parentTaskId === undefined ? undefined : made.get(header.parentTaskId);
}

/** Returns the premise of a single new Task. */
function premiseRow({ tenant, name, version }: RevisionPrecondition): string[] {
  return [tenant, name, version];
}

function premiseColumns(entries: readonly JournalEntry[]): Columns<typeof PREMISE_COLUMNS> {
  const columns = newColumns(PREMISE_COLUMNS);
  const positions = new Map<RevisionPrecondition, number>();
  for (const { taskId, create } of entries) {
    if (!create?.premise) continue;
    const { tenant, name, version } = create.premise;
    let position = positions.get(create.premise);
    if (position === undefined) {
      positions.set(create.premise, (position = positions.size + 1));
      columns.tenant.addText(tenant);
      columns.name.addText(name);
      columns.version.addText(version);
    }
    columns.taskId.addText(taskId);
    columns.position.addInteger(position);
  }
  return columns;
}

function jobColumns(entries: readonly JournalEntry[]): Columns<typeof JOB_COLUMNS> {
  const columns = newColumns(JOB_COLUMNS);
  const newest = new Map(entries.flatMap(({ jobs = [] }) => jobs.map((job) => [job.key, job] as const)));
  for (const { taskId, jobs = [] } of entries) {
    for (const job of jobs) {
      // The queue rejects a key that occurs twice in one statement: the later job replaces the earlier one.
      if (job.key !== undefined && newest.get(job.key) !== job) continue;
      columns.taskId.addText(taskId);
      columns.name.addText(job.name);
      columns.payload.addText(JSON.stringify(job.payload));
      columns.key.addOptionalText(job.key);
      columns.runAt.add(job.runAt);
      columns.maxAttempts.add(job.maxAttempts);
      columns.priority.add(job.priority);
      columns.caller.addOptionalText(job.caller && callerFlag(job.caller));
    }
  }
  return columns;
}

function snapshotColumns(entries: readonly JournalEntry[]): Columns<typeof SNAPSHOT_COLUMNS> {
  const columns = newColumns(SNAPSHOT_COLUMNS);
  for (const { taskId, after, events, snapshot } of entries) {
    if (!snapshot) continue;
    columns.taskId.addText(taskId);
    columns.sequence.addInteger(after + events.length);
    columns.task.addText(snapshot.task);
    columns.artifacts.addOptionalText(snapshot.artifacts);
  }
  return columns;
}

/** Returns the columns of questions. A Task without questions has one row without a key. */
function questionColumns(entries: readonly JournalEntry[]): Columns<typeof QUESTION_COLUMNS> {
  const columns = newColumns(QUESTION_COLUMNS);
  for (const { taskId, asked } of entries) {
    if (!asked) continue;
    const { header, questions } = asked;
    for (const question of questions.length > 0 ? questions : [undefined]) {
      columns.taskId.addText(taskId);
      columns.key.addOptionalText(question?.key);
      columns.tenant.addText(header.tenant);
      columns.owner.addText(header.owner);
      columns.agent.addText(header.agent);
      columns.assignee.addOptionalText(question?.assignee);
      columns.since.add(question?.since);
      columns.body.addOptionalText(question && JSON.stringify(question.body));
    }
  }
  return columns;
}

function fileColumns(entries: readonly JournalEntry[]): Columns<typeof FILE_COLUMNS> {
  const columns = newColumns(FILE_COLUMNS);
  for (const { taskId, named } of entries) {
    for (const fileId of named?.files ?? []) {
      columns.taskId.addText(taskId);
      columns.fileId.addText(fileId);
      columns.tenant.addText(named!.scope.tenant);
      columns.owner.addText(named!.scope.owner);
    }
  }
  return columns;
}

/** True if the Task has ended, waits or is parked, and therefore has no writer. */
function isSettled(entry: JournalEntry): boolean {
  return entry.wakeAt !== undefined || isTerminalState(entry.state) || isWaitingState(entry.state);
}

function newColumns<T extends Record<string, ConstructorParameters<typeof BinaryArray>[0]>>(types: T): Columns<T> {
  const columns = {} as Columns<T>;
  for (const name in types) columns[name] = new BinaryArray(types[name]!);
  return columns;
}

function buffersOf(columns: Record<string, BinaryArray>): Buffer[] {
  return Object.values(columns).map((column) => column.toBuffer());
}

/**
 * Settings of sessions whose statements look up few rows in large tables. Each statement is planned once and uses
 * indexes, whatever the statistics: a plan made for an empty table would scan it forever.
 */
export const PLANS_BY_INDEX = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  jit: 'off',
};

/** Settings of the sessions that write batches. */
export const JOURNAL_SETTINGS = {
  ...PLANS_BY_INDEX,
  // Limits of the role or the database are meant for statements that a user would repeat; these are retried without
  // limit.
  statement_timeout: '0',
  lock_timeout: '0',
  idle_session_timeout: '0',
  // The journal's statements check themselves that a Task has not ended.
  'parley.journal': 'on',
  // They keep the questions of a Task that resumes, and write its questions when it waits again (KeepOpenQuestions).
  'parley.questions': 'kept',
};

/**
 * Maximum bytes of a statement. PostgreSQL drops a session that sends a message of 1 GiB, and `pg` throws an
 * uncatchable error at 2 GiB.
 */
const MOST_BYTES = 768 * 1024 ** 2;

const texts = new Map<string, string>();

/**
 * Returns the statement for a batch with its columns. Each shape of a batch has one statement, so that it is planned
 * once.
 * @param position of its commit
 */
export function batchStatement(batch: readonly JournalEntry[], position: string): QueryConfig {
  const rows = batch.flatMap(toLogRows);
  const shape = shapeOf(batch, rows.length);
  const values = [
    ...(shape.one ? valuesOf(rows[0]!) : buffersOf(logColumns(rows))),
    ...taskValues(batch, shape),
    ...(shape.keyed ? buffersOf(keyColumns(batch.flatMap((entry) => keyedEntry(entry) ?? []))) : []),
    ...(shape.children ? buffersOf(childColumns(batch)) : []),
    ...(shape.jobs ? buffersOf(jobColumns(batch)) : []),
    ...(shape.snapshots ? buffersOf(snapshotColumns(batch)) : []),
    ...(shape.questions ? buffersOf(questionColumns(batch)) : []),
    ...(shape.premises ? premiseValues(batch, shape) : []),
    ...(shape.files ? buffersOf(fileColumns(batch)) : []),
    position,
  ];
  const bytes = values.reduce<number>((sum, value) => sum + (Buffer.isBuffer(value) ? value.length : 0), 0);
  if (bytes > MOST_BYTES) throw new RangeError(`A batch of ${bytes} bytes is more than one statement takes`);
  return { ...namedStatement(shape), values };
}

function valuesOf({ taskId, sequence, events, artifact }: LogRow): unknown[] {
  return [taskId, sequence, events, artifact];
}

function taskValues(batch: readonly JournalEntry[], shape: BatchShape): unknown[] {
  return [...createdValues(batch, shape), ...(shape.continued ? buffersOf(continuedColumns(batch)) : [])];
}

function createdValues(batch: readonly JournalEntry[], { one }: BatchShape): unknown[] {
  const rows = batch.flatMap((entry) => (entry.create ? [createdRow(entry, entry.create)] : []));
  return one ? rows[0]! : buffersOf(createdColumns(rows));
}

function premiseValues(batch: readonly JournalEntry[], { one }: BatchShape): unknown[] {
  const premise = batch[0]?.create?.premise;
  return one && premise ? premiseRow(premise) : buffersOf(premiseColumns(batch));
}

function shapeOf(batch: readonly JournalEntry[], logRows: number): BatchShape {
  const shape = {
    one: false,
    continued: false,
    keyed: false,
    children: false,
    jobs: false,
    snapshots: false,
    questions: false,
    premises: false,
    files: false,
  };
  for (const { create, keyed, jobs, snapshot, asked, named } of batch) {
    if (!create) shape.continued = true;
    if (keyed || create?.idempotency) shape.keyed = true;
    if (create?.header.parentTaskId !== undefined) shape.children = true;
    if (jobs) shape.jobs = true;
    if (snapshot) shape.snapshots = true;
    if (asked) shape.questions = true;
    if (create?.premise) shape.premises = true;
    if (named) shape.files = true;
  }
  // The other sections follow the section of continued Tasks, except premises, which the most common batch has alone.
  if (shape.keyed || shape.children || shape.jobs || shape.snapshots || shape.questions || shape.files)
    shape.continued = true;
  // Half of the batches under light load. With more to do, it gains nothing.
  shape.one = logRows === 1 && batch[0]?.create !== undefined && !shape.continued;
  return shape;
}

function namedStatement(shape: BatchShape): { name: string; text: string } {
  const kinds = (Object.keys(shape) as (keyof BatchShape)[]).filter((kind) => shape[kind]);
  const name = ['journal', ...kinds].join('-');
  let text = texts.get(name);
  if (text === undefined) texts.set(name, (text = batchText(shape)));
  return { name, text };
}
