import type { QueryConfig } from 'pg';
import { callerFlag } from '#libs/jobs';
import { isActiveState } from '#libs/protocol';
import { BinaryArray } from '#libs/service';
import type { RelayedTurn } from '../fold/task-event.js';
import { workflowIn } from '../fold/reported-model-call.js';
import { eventBytes } from '../fold/task-fold.js';
import type { JournalEntry, RevisionPrecondition } from '../store/task-store.js';
import { type BatchShape, type ColumnType, type SectionName, SECTIONS, sectionsOf } from './journal-sections.js';

import { batchText } from './journal-sql.js';
import { type LogRow, toLogRows } from './log-row.js';

type CreatedValue = string | number | Date | undefined;

type Columns<S extends SectionName> = { [name in keyof (typeof SECTIONS)[S]]: BinaryArray };

function logColumns(_batch: readonly JournalEntry[], rows: readonly LogRow[]): Columns<'log'> {
  const columns = newColumns('log');
  for (const { taskId, sequence, events, artifact } of rows) {
    columns.taskId.addText(taskId);
    columns.sequence.addInteger(sequence);
    columns.events.addText(events);
    columns.artifact.addBoolean(artifact);
  }
  return columns;
}

/** Returns the values of a new Task's row, in the order of the columns. */
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

function createdColumns(batch: readonly JournalEntry[]): Columns<'created'> {
  const columns = newColumns('created');
  const rows = batch.flatMap((entry) => (entry.create ? [createdRow(entry, entry.create)] : []));
  for (const [index, column] of Object.values(columns).entries()) for (const row of rows) column.add(row[index]);
  return columns;
}

/** Returns the columns of the entries that continue existing Tasks. */
function continuedColumns(batch: readonly JournalEntry[]): Columns<'continued'> {
  const columns = newColumns('continued');
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

/** Returns the bytes that the events of an entry add to the log, and the bytes of the Artifact events among them. */
function addedBytes({ events }: JournalEntry): { log: number; artifacts: number } {
  let [log, artifacts] = [0, 0];
  for (const { event, json } of events) {
    const bytes = eventBytes(event, json);
    log += bytes;
    if ('artifactUpdate' in event) artifacts += bytes;
  }
  return { log, artifacts };
}

function keyedColumns(batch: readonly JournalEntry[]): Columns<'keyed'> {
  const columns = newColumns('keyed');
  for (const { create, keyed, after } of batch) {
    const header = keyed ? keyed.header : create?.header;
    const idempotency = keyed ? keyed.idempotency : create?.idempotency;
    if (!header || !idempotency) continue;
    columns.taskId.addText(header.taskId);
    columns.tenant.addText(header.tenant);
    columns.owner.addText(header.owner);
    columns.agent.addText(header.agent);
    columns.key.addText(idempotency.key);
    columns.fingerprint.addText(idempotency.fingerprint);
    columns.sequence.addInteger(after + 1);
  }
  return columns;
}

/**
 * Returns the columns of new child Tasks. The statement creates a child only if `holder` has the claim of the Task
 * `parentTaskId`. If the parent of a child is new in the batch as well, both values are those of the topmost new Task
 * above the child that has a parent itself: the new Tasks of one chain are created together or not at all.
 */
function childColumns(entries: readonly JournalEntry[]): Columns<'children'> {
  const columns = newColumns('children');
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

function premiseColumns(entries: readonly JournalEntry[]): Columns<'premises'> {
  const columns = newColumns('premises');
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

function jobColumns(entries: readonly JournalEntry[]): Columns<'jobs'> {
  const columns = newColumns('jobs');
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

function snapshotColumns(entries: readonly JournalEntry[]): Columns<'snapshots'> {
  const columns = newColumns('snapshots');
  for (const { taskId, after, events, snapshot } of entries) {
    if (!snapshot) continue;
    columns.taskId.addText(taskId);
    columns.sequence.addInteger(after + events.length);
    columns.task.addText(snapshot.task);
    columns.artifacts.addOptionalText(snapshot.artifacts);
  }
  return columns;
}

/** Returns the columns of open questions. A Task without questions has one row without a key. */
function questionColumns(entries: readonly JournalEntry[]): Columns<'questions'> {
  const columns = newColumns('questions');
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

function fileColumns(entries: readonly JournalEntry[]): Columns<'files'> {
  const columns = newColumns('files');
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

/** Returns the values of the row for the turn that a new Task begins at a remote agent, in the order of the columns. */
function relayedRow(taskId: string, turn: RelayedTurn): string[] {
  return [taskId, turn.talkKey, turn.contextKey, turn.messageId, turn.options, turn.agentKey, turn.execution];
}

function relayedColumns(entries: readonly JournalEntry[]): Columns<'relayed'> {
  const columns = newColumns('relayed');
  const rows = entries.flatMap(({ taskId, relayed }) => (relayed ? [relayedRow(taskId, relayed)] : []));
  for (const [index, column] of Object.values(columns).entries()) for (const row of rows) column.addText(row[index]!);
  return columns;
}

function remoteColumns(entries: readonly JournalEntry[]): Columns<'remotes'> {
  const columns = newColumns('remotes');
  for (const { taskId, remote } of entries) {
    if (!remote) continue;
    columns.taskId.addText(taskId);
    columns.remoteTaskId.addOptionalText(remote.taskId);
    columns.remoteContextId.addText(remote.contextId);
  }
  return columns;
}

function promptColumns(entries: readonly JournalEntry[]): Columns<'prompts'> {
  const columns = newColumns('prompts');
  for (const { taskId, prompts } of entries) {
    if (!prompts) continue;
    columns.taskId.addText(taskId);
    columns.sequence.addInteger(prompts.sequence);
    columns.body.addText(prompts.body);
  }
  return columns;
}

function usageColumns(entries: readonly JournalEntry[]): Columns<'usage'> {
  const columns = newColumns('usage');
  for (const { taskId, used } of entries) {
    for (const { model, tokens } of used?.calls ?? []) {
      const { tenant, owner, agent, parentTaskId } = used!.header;
      columns.taskId.addText(taskId);
      columns.parentTaskId.addOptionalText(parentTaskId);
      columns.tenant.addText(tenant);
      columns.owner.addText(owner);
      columns.workflow.addText(workflowIn(agent));
      columns.model.addText(model);
      columns.inputTokens.add(tokens?.input);
      columns.outputTokens.add(tokens?.output);
      columns.cachedTokens.add(tokens?.cached);
      columns.reasoningTokens.add(tokens?.reasoning);
      columns.cacheWriteTokens.add(tokens?.cache_write);
      columns.cost.addOptionalText(tokens?.cost);
    }
  }
  return columns;
}

/**
 * True if the Task has ended, waits, or is parked (released until a time) after the entry. Then no process writes it.
 */
function isSettled(entry: JournalEntry): boolean {
  return entry.wakeAt !== undefined || !isActiveState(entry.state);
}

function newColumns<S extends SectionName>(section: S): Columns<S> {
  const columns: Record<string, BinaryArray> = {};
  const types: Record<string, ColumnType> = SECTIONS[section];
  for (const name in types) columns[name] = new BinaryArray(types[name]!);
  return columns as Columns<S>;
}

function buffersOf(columns: Record<string, BinaryArray>): unknown[] {
  return Object.values(columns).map((column) => column.toBuffer());
}

type ToColumns = (batch: readonly JournalEntry[], rows: readonly LogRow[]) => Record<string, BinaryArray>;

/**
 * Functions that create the columns of each section, by section. The statement for one new Task has single values
 * instead.
 */
const COLUMNS_OF: Record<Exclude<SectionName, 'premise'>, ToColumns> = {
  log: logColumns,
  created: createdColumns,
  continued: continuedColumns,
  keyed: keyedColumns,
  children: childColumns,
  jobs: jobColumns,
  snapshots: snapshotColumns,
  questions: questionColumns,
  premises: premiseColumns,
  files: fileColumns,
  relayed: relayedColumns,
  remotes: remoteColumns,
  prompts: promptColumns,
  usage: usageColumns,
};

/**
 * Settings of database sessions whose statements look up few rows in large tables. Each statement is planned once, and
 * uses indexes whatever the statistics are. Otherwise a plan made for an empty table would scan it forever.
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
  // The journal's statements keep the questions of a Task that resumes, and write its questions when it waits again
  // (KeepOpenQuestions).
  'parley.questions': 'kept',
};

/**
 * Maximum bytes of a statement. PostgreSQL drops a session that sends a message of 1 GiB, and `pg` throws an
 * uncatchable error at 2 GiB.
 */
const MOST_BYTES = 768 * 1024 ** 2;

interface BatchStatement {
  name: string;
  text: string;
  sections: readonly (keyof typeof COLUMNS_OF)[];
}

const statements = new Map<string, BatchStatement>();

/**
 * Returns the statement that writes a batch, with its values. Batches of the same shape have the same statement text,
 * so that it is planned once.
 * @param position position of the batch's commit
 * @throws RangeError for a batch of more than MOST_BYTES
 */
export function batchStatement(batch: readonly JournalEntry[], position: string): QueryConfig {
  const rows = batch.flatMap(toLogRows);
  const shape = shapeOf(batch, rows.length);
  const { name, text, sections } = statementFor(shape);
  const values = shape.one
    ? valuesOfOne(batch[0]!, rows[0]!)
    : sections.flatMap((section) => buffersOf(COLUMNS_OF[section](batch, rows)));
  values.push(position);
  const bytes = values.reduce<number>((sum, value) => sum + (Buffer.isBuffer(value) ? value.length : 0), 0);
  if (bytes > MOST_BYTES) throw new RangeError(`A batch of ${bytes} bytes is more than one statement takes`);
  return { name, text, values };
}

/** Returns the values of the statement for a batch of one new Task. */
function valuesOfOne(entry: JournalEntry, { taskId, sequence, events, artifact }: LogRow): unknown[] {
  const create = entry.create!;
  const { premise } = create;
  return [
    ...[taskId, sequence, events, artifact],
    ...createdRow(entry, create),
    ...(premise ? [premise.tenant, premise.name, premise.version] : []),
    ...(entry.relayed ? relayedRow(taskId, entry.relayed) : []),
  ];
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
    relayed: false,
    remotes: false,
    prompts: false,
    usage: false,
  };
  for (const { create, keyed, jobs, snapshot, asked, named, relayed, remote, prompts, used } of batch) {
    if (!create) shape.continued = true;
    if (keyed || create?.idempotency) shape.keyed = true;
    if (create?.header.parentTaskId !== undefined) shape.children = true;
    if (jobs) shape.jobs = true;
    if (snapshot) shape.snapshots = true;
    if (asked) shape.questions = true;
    if (create?.premise) shape.premises = true;
    if (named) shape.files = true;
    if (relayed) shape.relayed = true;
    if (remote) shape.remotes = true;
    if (prompts) shape.prompts = true;
    if (used) shape.usage = true;
  }
  // The other sections follow the section of continued Tasks, except those which the most common batch has alone.
  const { keyed, children, jobs, snapshots, questions, files, remotes, prompts, usage } = shape;
  if (keyed || children || jobs || snapshots || questions || files || remotes || prompts || usage)
    shape.continued = true;
  // Half of the batches under light load are one new Task. With more to write, single values gain nothing.
  shape.one = logRows === 1 && batch[0]?.create !== undefined && !shape.continued;
  return shape;
}

/** Returns the statement for batches of a shape. Its text is built once. */
function statementFor(shape: BatchShape): BatchStatement {
  const kinds = (Object.keys(shape) as (keyof BatchShape)[]).filter((kind) => shape[kind]);
  const name = ['journal', ...kinds].join('-');
  let statement = statements.get(name);
  if (!statement) {
    const sections = sectionsOf(shape).filter((section) => section !== 'premise');
    statements.set(name, (statement = { name, text: batchText(shape), sections }));
  }
  return statement;
}
