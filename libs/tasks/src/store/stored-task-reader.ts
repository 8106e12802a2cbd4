import { Logger } from '@nestjs/common';
import type { Pool } from 'pg';
import { BatchLoader, type SharedReads } from '#libs/postgres';
import { isActiveState, isTerminalState, type Task } from '#libs/protocol';
import { type FoldMemory, KeptFolds, KeptTasks } from '../fold/fold-memory.js';
import type { TaskEvent } from '../fold/task-event.js';
import { fromSnapshot, isWorthSnapshot, LONG_LOG, type SnapshotRow, TaskFold, toSnapshot } from '../fold/task-fold.js';
import { eventsOver, eventTexts, OF_ARTIFACTS, parseEvent, ROW_TEXT, toEvents } from '../journal/log-row.js';
import {
  findAgents,
  pageStatement,
  STORED_COLUMNS,
  wantedStatement,
  type WantedTask,
  withLog,
} from './task-queries.js';
import { type StoredRow, toHeader } from './task-rows.js';
import {
  type LogAdmission,
  type PageAdmission,
  PreconditionFailed,
  type RevisionPrecondition,
  type StoredTask,
  type TaskHeader,
  type TaskLog,
  type TaskPage,
  type TaskQuery,
  type TaskScope,
} from './task-store.js';

/** Stores the sizes of logs that a reader had to measure. */
class TaskSizes {
  private readonly logger = new Logger(TaskSizes.name);

  constructor(private readonly pool: Pool) {}

  /**
   * Stores the measured sizes of the logs of ended Tasks; the logs of other Tasks may still grow. Skips locked rows and
   * never fails; the next reader measures again.
   */
  async keepSizes(rows: readonly StoredRow[]): Promise<void> {
    const measured = rows.filter((row) => row.measured && isTerminalState(row.state));
    if (measured.length === 0) return;
    const values = [
      measured.map((row) => row.task_id),
      measured.map((row) => row.last_sequence),
      measured.map((row) => row.log_bytes),
      measured.map((row) => row.artifact_bytes),
    ];
    try {
      await this.pool.query({ name: 'keep-sizes', text: KEEP_SIZES, values });
    } catch (error) {
      this.logger.warn({ err: error }, 'The sizes of tasks could not be stored; the next reader tries again');
    }
  }
}

const KEEP_SIZES = `
  UPDATE task SET log_bytes = found.log_bytes, artifact_bytes = found.artifact_bytes
  FROM (
    SELECT task.task_id, measured.log_bytes, measured.artifact_bytes
    FROM task JOIN unnest($1::text[], $2::int[], $3::int[], $4::int[])
      AS measured (task_id, last_sequence, log_bytes, artifact_bytes) USING (task_id, last_sequence)
    WHERE task.log_bytes IS NULL
    FOR UPDATE OF task SKIP LOCKED
  ) AS found
  WHERE task.task_id = found.task_id`;

/**
 * Stores and reads snapshots of Tasks with long logs. A snapshot is the Task after the events up to `sequence`. Logs
 * never change, so later events can be applied to an older snapshot. The next reader creates a missing snapshot.
 */
class TaskSnapshots {
  private readonly logger = new Logger(TaskSnapshots.name);

  constructor(private readonly pool: Pool) {}

  async readSnapshot({ taskId, lastSequence }: TaskHeader, artifacts: boolean): Promise<SnapshotRow | undefined> {
    if (lastSequence <= LONG_LOG) return undefined;
    const { rows } = await this.pool.query<SnapshotRow>({
      name: artifacts ? 'task-snapshot' : 'task-snapshot-told',
      text: `SELECT sequence, task::text, ${artifacts ? 'artifacts::text' : 'NULL AS artifacts'} FROM task_snapshot
             WHERE task_id = $1 AND sequence <= $2`,
      values: [taskId, lastSequence],
    });
    return rows[0];
  }

  /**
   * Stores the snapshot of a Task with a log of `bytes`, unless the Task is still working or its log is too short for a
   * snapshot. Never rejects, because the reader already has its result.
   * @param from sequence of the snapshot that exists already; 0 if there is none
   */
  async keepSnapshot(header: TaskHeader, task: Task, bytes: number, from: number): Promise<void> {
    const { taskId, lastSequence, state, updatedAt, size } = header;
    const isWorthKeeping = lastSequence - from > LONG_LOG && isWorthSnapshot(lastSequence, bytes);
    if (isActiveState(state) || !isWorthKeeping) return;
    const snapshot = toSnapshot(task);
    const folded = [snapshot.task, snapshot.artifacts];
    const values = [taskId, lastSequence, ...folded, size?.log, size?.artifacts, state, updatedAt];
    try {
      await this.pool.query({ name: 'keep-snapshot', text: KEEP_SNAPSHOT, values });
    } catch (error) {
      this.logger.warn(
        { err: error, taskId },
        'The snapshot of a task could not be stored; the next reader tries again',
      );
    }
  }
}

// Condition that the Task is still as it was read: a promoted standby may have a different event with that sequence.
// Times are passed in milliseconds.
const AS_READ = `
  task_id = $1 AND last_sequence = $2 AND state = $7 AND date_trunc('milliseconds', updated_at) = $8`;

// Stores a snapshot only if the Task still exists as it was read. Also stores the measured sizes.
const KEEP_SNAPSHOT = `
  WITH kept AS (
    INSERT INTO task_snapshot (task_id, sequence, task, artifacts)
    SELECT task_id, last_sequence, $3::json, $4::json FROM task WHERE ${AS_READ}
    ON CONFLICT (task_id) DO UPDATE
      SET sequence = EXCLUDED.sequence, task = EXCLUDED.task, artifacts = EXCLUDED.artifacts
      WHERE task_snapshot.sequence < EXCLUDED.sequence
  )
  UPDATE task SET log_bytes = $5, artifact_bytes = $6
  WHERE ${AS_READ} AND log_bytes IS NULL AND $5::int IS NOT NULL`;

/** Maximum bytes of a log that the query for a page of Tasks returns together with the row of the Task. */
const FEW_BYTES_IN_LIST = 8 * 1024;
/** Approximate bytes of the events in memory while a longer log is applied page by page. */
const PAGE_BYTES = 1024 * 1024;
/** Maximum number of rows in memory while a longer log is applied page by page. */
const PAGE_EVENTS = 1000;

/** Maximum number of Tasks that one query reads. The short logs of so many Tasks have some megabytes. */
const MOST_TOGETHER = 64;
/** Maximum number of concurrent queries for Tasks by id. */
export const MOST_AT_ONCE = 3;

interface PageRow {
  sequence: number;
  text: string;
}

interface ReadOptions {
  /** True to read Artifacts, too; otherwise the database sends none of their bytes. */
  artifacts: boolean;
}

/**
 * Reads Tasks by applying the events of their logs. Memory holds the Task and one page of its log, however long the log
 * is. A short log is read together with its Task, and concurrent reads share a query.
 */
export class StoredTaskReader {
  private readonly snapshots: TaskSnapshots;
  private readonly sizes: TaskSizes;
  private readonly kept: KeptTasks;
  private readonly wanted = new BatchLoader(
    (tasks: readonly WantedTask[]) => this.readWanted(tasks),
    MOST_TOGETHER,
    MOST_AT_ONCE,
  );

  /**
   * @param byId sessions for reads of Tasks by id, whose statements use indexes only
   * @param reads executes the reads of callers; reads of different callers take turns
   * @param folds memory limit for the cached states of waiting Tasks
   */
  constructor(
    private readonly pool: Pool,
    private readonly byId: Pool,
    private readonly reads: SharedReads,
    folds: FoldMemory,
  ) {
    this.snapshots = new TaskSnapshots(pool);
    this.sizes = new TaskSizes(pool);
    this.kept = new KeptTasks((taskId, after, limit) => eventsOver(pool, taskId, after, limit), new KeptFolds(folds));
  }

  async loadTask(
    taskId: string,
    scope?: TaskScope,
    admission?: LogAdmission,
    premise?: RevisionPrecondition,
  ): Promise<StoredTask | undefined> {
    const row = await this.readRow({ taskId, scope, premise });
    if (!row || !isLarge(row)) return row && this.foldRow(row, { artifacts: true });
    await admission?.admitBytes(rowBytes(row, true));
    const readStored = (): Promise<StoredTask | undefined> => this.foldRow(row, { artifacts: true });
    return scope ? this.reads.inTurn(scope, readStored) : readStored();
  }

  async readLog(taskId: string, scope?: TaskScope, premise?: RevisionPrecondition): Promise<TaskLog | undefined> {
    const row = await this.readRow({ taskId, scope, premise });
    const header = row && toHeader(row);
    return header && { header, ...(row.events !== null && { events: toEvents(header, row.events) }) };
  }

  private async readRow(wanted: WantedTask): Promise<StoredRow | undefined> {
    const row = await this.wanted.get(wanted);
    if (wanted.premise && !row) throw new PreconditionFailed();
    return row;
  }

  private async readWanted(wanted: readonly WantedTask[]): Promise<Map<WantedTask, StoredRow>> {
    const { rows } = await this.byId.query<StoredRow & { place?: number }>(wantedStatement(wanted));
    await this.sizes.keepSizes(rows);
    return new Map(rows.map((row) => [wanted[(row.place ?? 1) - 1]!, row]));
  }

  async findTasks(query: TaskQuery): Promise<StoredTask[]> {
    return this.storedAll(await this.readRows(query), query);
  }

  async readPage(query: TaskQuery, admission: PageAdmission): Promise<TaskPage> {
    const rows = await this.readRows({ ...query, limit: query.limit + 1 });
    const page: StoredRow[] = [];
    let bytes = 0;
    for (const row of rows.slice(0, query.limit)) {
      if (isLarge(row)) bytes += rowBytes(row, query.artifacts ?? true);
      if (page.length > 0 && bytes > admission.bytes) break;
      page.push(row);
    }
    const large = page.filter(isLarge).reduce((sum, row) => sum + rowBytes(row, query.artifacts ?? true), 0);
    if (large > 0) await admission.admitBytes(large);
    return { tasks: await this.storedAll(page, query), more: rows.length > page.length };
  }

  private async readRows(query: TaskQuery): Promise<StoredRow[]> {
    const log = withLog(FEW_BYTES_IN_LIST, query.artifacts ?? true);
    const found = await findAgents(this.reads, query);
    const statement = pageStatement(query, STORED_COLUMNS, log, found);
    const { rows } = query.urgent
      ? await this.pool.query<StoredRow>(statement)
      : await this.reads.queryInTurn<StoredRow>(query.scope, statement);
    await this.sizes.keepSizes(rows);
    return rows;
  }

  /**
   * Reads the logs of the Tasks of a page, and applies their events. Reads of long logs by different callers take
   * turns.
   */
  private storedAll(rows: readonly StoredRow[], query: TaskQuery): Promise<StoredTask[]> {
    if (query.urgent || !rows.some(isLarge)) return this.foldAll(rows, query);
    return this.reads.inTurn(query.scope, () => this.foldAll(rows, query));
  }

  private async foldAll(rows: readonly StoredRow[], { artifacts = true }: TaskQuery): Promise<StoredTask[]> {
    const tasks: StoredTask[] = [];
    for (const row of rows) {
      // Tasks are folded one after the other: pages of many long logs together would be too large.
      const stored = await this.foldRow(row, { artifacts });
      // A Task without a fold was purged in the meantime.
      if (stored) tasks.push(stored);
    }
    return tasks;
  }

  /**
   * Returns a Task that this process has just claimed, in its state at `header.lastSequence`; `undefined` if the Task
   * was purged meanwhile. If this replica still caches the state in which the Task waited, only later events are
   * applied.
   */
  async loadClaimed(header: TaskHeader): Promise<StoredTask | undefined> {
    const forward = await this.kept.foldForward(header);
    if (forward) return forward;
    const stored = await this.foldTask(header);
    // The Task was read; a failure to store its fold does not matter.
    if (stored) await this.kept.keepTask(stored).catch(() => undefined);
    return stored;
  }

  /** Drops the cached states of Tasks that have ended. */
  dropEnded(taskIds: readonly string[]): void {
    for (const taskId of taskIds) this.kept.dropTask(taskId);
  }

  /** Applies the log of a Task up to `header.lastSequence`; `undefined` if the Task was purged meanwhile. */
  async foldTask(
    header: TaskHeader,
    { artifacts }: ReadOptions = { artifacts: true },
  ): Promise<StoredTask | undefined> {
    const limit = pageEvents(header, artifacts);
    // If the size of the log is unknown, reading all of it reveals the size.
    const snapshot = header.size && (await this.snapshots.readSnapshot(header, artifacts));
    const from = snapshot?.sequence ?? 0;
    if (snapshot && from === header.lastSequence)
      return { header, task: fromSnapshot(snapshot), bytes: header.size?.log };
    let fold = snapshot && TaskFold.fromTask(fromSnapshot(snapshot));
    let [bytes, folded, pages] = [0, from, 0];
    for (let after = from; after < header.lastSequence; pages += 1) {
      const upTo = Math.min(after + limit, header.lastSequence);
      const values = [header.taskId, after, upTo];
      const { rows } = await this.pool.query<PageRow>({ ...(artifacts ? PAGE : PAGE_WITHOUT_ARTIFACTS), values });
      for (const { sequence, text } of rows) {
        // A snapshot may end within a row.
        for (const it of eventTexts(header, text).slice(folded - sequence)) {
          bytes += it.length;
          fold = foldNext(fold, parseEvent(it), artifacts);
        }
        folded = sequence;
      }
      after = rows.length === PAGE_EVENTS ? folded : upTo;
    }
    // A purge deletes a whole log at once: if the Task still exists after several answers, none was missing.
    if (!fold || ((snapshot || pages > 1) && !(await this.isThere(header.taskId)))) return undefined;
    const task = fold.toTask();
    if (artifacts) await this.snapshots.keepSnapshot(header, task, header.size?.log ?? bytes, from);
    return { header, task, bytes: header.size?.log ?? bytes };
  }

  private async isThere(taskId: string): Promise<boolean> {
    const { rowCount } = await this.pool.query({
      name: 'task-there',
      text: 'SELECT FROM task WHERE task_id = $1',
      values: [taskId],
    });
    return rowCount === 1;
  }

  private async foldRow(row: StoredRow, options: ReadOptions): Promise<StoredTask | undefined> {
    const header = toHeader(row);
    if (row.folded !== null) {
      const task = fromSnapshot({ task: row.folded, artifacts: row.artifacts });
      return { header, task, bytes: header.size?.log };
    }
    if (row.events === null) return this.foldTask(header, options);
    let fold: TaskFold | undefined;
    for (const text of eventTexts(header, row.events)) fold = foldNext(fold, parseEvent(text), options.artifacts);
    return fold && { header, task: fold.toTask(), bytes: header.size?.log };
  }
}

/** True if the row contains neither the log nor a snapshot, because the log is large. */
function isLarge({ folded, events }: StoredRow): boolean {
  return folded === null && events === null;
}

function rowBytes({ log_bytes: log, artifact_bytes: artifacts }: StoredRow, withArtifacts: boolean): number {
  return (log ?? 0) - (withArtifacts ? 0 : (artifacts ?? 0));
}

function foldNext(fold: TaskFold | undefined, event: TaskEvent, artifacts: boolean): TaskFold {
  if (!fold) return TaskFold.beginTask(event);
  if (artifacts || !('artifactUpdate' in event)) fold.applyEvent(event);
  return fold;
}

/**
 * Returns the number of sequences that one page of a log covers. Without Artifacts, a page covers more sequences,
 * because events that are not read have no size but count as sequences.
 */
function pageEvents({ size, lastSequence }: TaskHeader, artifacts: boolean): number {
  if (!size) return PAGE_EVENTS;
  const usual = (size.log - (artifacts ? 0 : size.artifacts)) / lastSequence;
  const fitting = Math.max(Math.floor(PAGE_BYTES / Math.max(usual, 1)), 1);
  return artifacts ? Math.min(fitting, PAGE_EVENTS) : fitting;
}

const eventsSql = (which: string): string => `
  SELECT sequence, ${ROW_TEXT} AS text FROM task_log
  WHERE task_id = $1 AND sequence > $2 AND sequence <= $3 ${which} ORDER BY sequence LIMIT ${PAGE_EVENTS}`;

const PAGE = { name: 'task-log', text: eventsSql('') };
const PAGE_WITHOUT_ARTIFACTS = { name: 'task-log-told', text: eventsSql(`AND NOT ${OF_ARTIFACTS}`) };
