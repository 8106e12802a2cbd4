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
  keyOf,
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
 * The settings of sessions whose statements look for little in large tables: each is planned once, and every look-up goes
 * by its index, whatever the statistics say: a plan made while the table was empty would read all of it ever after.
 */
export const PLANS_BY_INDEX = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  jit: 'off',
};

/** The settings of the sessions that write batches. */
export const JOURNAL_SETTINGS = {
  ...PLANS_BY_INDEX,
  // Limits that the role or the database has are for statements that somebody would ask again; these are asked for ever.
  statement_timeout: '0',
  lock_timeout: '0',
  idle_session_timeout: '0',
  // Its statements need no check that a Task has not ended: they make it themselves.
  'parley.journal': 'on',
  // They keep the questions of a Task that goes on, and say themselves what it asks when it waits again (KeepOpenQuestions).
  'parley.questions': 'kept',
};

/** PostgreSQL drops a session that sends it a message of 1 GiB, and `pg` throws where nobody catches it at two. */
const MOST_BYTES = 768 * 1024 ** 2;

const texts = new Map<string, string>();

/**
 * Returns the statement for a batch and its columns; one for each shape of a batch, so that each is planned once.
 * @param position of its commit
 */
export function batchStatement(batch: readonly JournalEntry[], position: string): QueryConfig {
  const rows = batch.flatMap(toLogRows);
  const shape = shapeOf(batch, rows.length);
  const values = [
    ...(shape.one ? valuesOf(rows[0]!) : buffersOf(logColumns(rows))),
    ...tasks(batch, shape),
    ...(shape.keyed ? buffersOf(keyColumns(batch.flatMap((entry) => keyOf(entry) ?? []))) : []),
    ...(shape.children ? buffersOf(childColumns(batch)) : []),
    ...(shape.jobs ? buffersOf(jobColumns(batch)) : []),
    ...(shape.snapshots ? buffersOf(snapshotColumns(batch)) : []),
    ...(shape.questions ? buffersOf(questionColumns(batch)) : []),
    ...(shape.premises ? premises(batch, shape) : []),
    ...(shape.files ? buffersOf(fileColumns(batch)) : []),
    position,
  ];
  const bytes = values.reduce<number>((sum, value) => sum + (Buffer.isBuffer(value) ? value.length : 0), 0);
  if (bytes > MOST_BYTES) throw new RangeError(`A batch of ${bytes} bytes is more than one statement takes`);
  return { ...named(shape), values };
}

function valuesOf({ taskId, sequence, events, artifact }: LogRow): unknown[] {
  return [taskId, sequence, events, artifact];
}

function tasks(batch: readonly JournalEntry[], shape: BatchShape): unknown[] {
  return [...created(batch, shape), ...(shape.continued ? buffersOf(continuedColumns(batch)) : [])];
}

function created(batch: readonly JournalEntry[], { one }: BatchShape): unknown[] {
  const rows = batch.flatMap((entry) => (entry.create ? [createdRow(entry, entry.create)] : []));
  return one ? rows[0]! : buffersOf(createdColumns(rows));
}

function premises(batch: readonly JournalEntry[], { one }: BatchShape): unknown[] {
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
  // The other sections come after that of the continued Tasks, but for premises, which the commonest batch has alone.
  if (shape.keyed || shape.children || shape.jobs || shape.snapshots || shape.questions || shape.files)
    shape.continued = true;
  // Half of the batches under light load. Nothing is gained where there is more to do.
  shape.one = logRows === 1 && batch[0]?.create !== undefined && !shape.continued;
  return shape;
}

function named(shape: BatchShape): { name: string; text: string } {
  const kinds = (Object.keys(shape) as (keyof BatchShape)[]).filter((kind) => shape[kind]);
  const name = ['journal', ...kinds].join('-');
  let text = texts.get(name);
  if (text === undefined) texts.set(name, (text = batchText(shape)));
  return { name, text };
}
