import type { QueryConfig } from 'pg';
import {
  buffersOf,
  childColumns,
  continuedColumns,
  createdColumns,
  createdRow,
  fileColumns,
  jobColumns,
  keyColumns,
  keyedEntry,
  logColumns,
  premiseColumns,
  premiseRow,
  questionColumns,
  snapshotColumns,
} from './journal-columns.js';
import { type BatchShape, batchText } from './journal-sql.js';
import { type LogRow, toLogRows } from './log-row.js';
import type { JournalEntry } from './task-store.js';

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
