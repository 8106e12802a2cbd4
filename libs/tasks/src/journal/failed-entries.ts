import type { Logger } from '@nestjs/common';
import { classifyWriteFailure, mayBeCommitted } from '#libs/postgres';
import { Backoff } from '#libs/service';
import type { RecordedEvent } from '../fold/task-event.js';
import {
  ClaimLost,
  type EntryWrites,
  type JournalEntry,
  type JournalOutcome,
  type TaskStore,
} from '../store/task-store.js';

/**
 * Groups the entries of a batch so that a new Task and its new child Tasks are in one group. If a new child were
 * written after its new parent, the write could be rejected (fenced), because the parent may already wait without a
 * claim. Keeps the order of the entries.
 */
function groupByFamily(entries: readonly JournalEntry[]): JournalEntry[][] {
  const made = new Map(entries.flatMap((entry) => (entry.create ? [[entry.taskId, entry] as const] : [])));
  const families = new Map<string, JournalEntry[]>();
  for (const entry of entries) {
    const root = eldestIn(made, entry).taskId;
    const family = families.get(root);
    if (family) family.push(entry);
    else families.set(root, [entry]);
  }
  return [...families.values()];
}

function eldestIn(made: ReadonlyMap<string, JournalEntry>, entry: JournalEntry): JournalEntry {
  let eldest = entry;
  for (let above = parentIn(made, eldest); above; above = parentIn(made, eldest)) eldest = above;
  return eldest;
}

function parentIn(made: ReadonlyMap<string, JournalEntry>, { create }: JournalEntry): JournalEntry | undefined {
  return create?.header.parentTaskId === undefined ? undefined : made.get(create.header.parentTaskId);
}

/**
 * Function that writes the given entries with one statement and reports their outcomes.
 * @throws NothingWritable if the server takes no writes at all; otherwise the error of the statement
 */
type TryWrite = (entries: readonly JournalEntry[]) => Promise<void>;

/**
 * Error if the server accepts no writes at the moment, or too many parts of a batch failed in a row. The entries
 * without an outcome stay in memory until the next attempt.
 */
export class NothingWritable extends Error {
  override readonly name = 'NothingWritable';

  constructor(cause: unknown) {
    super('No part of the batch can be written', { cause });
  }
}

/**
 * Writes a failed batch in ever smaller parts, in order, until each entry has an outcome or has failed on its own. If
 * one of `n` entries cannot be written, this takes about `2 log n` statements.
 */
export class DividedWrite {
  private failedInARow = 0;

  /**
   * @param failAlone handles an entry that failed on its own
   * @param mostInARow number of statements that may fail in a row before giving up
   */
  constructor(
    private readonly tryWrite: TryWrite,
    private readonly failAlone: (entry: JournalEntry, cause: unknown) => Promise<void>,
    private readonly mostInARow: number,
  ) {}

  /**
   * Writes the entries in parts, since they failed together.
   * @param cause the error with which they failed
   * @throws NothingWritable if the server takes no writes, or too many statements failed in a row
   */
  async writeDivided(entries: readonly JournalEntry[], cause: unknown): Promise<void> {
    await this.divideFamilies(groupByFamily(entries), cause);
  }

  private async divideFamilies(families: readonly (readonly JournalEntry[])[], cause: unknown): Promise<void> {
    const [first] = families;
    if (families.length > 1) {
      const middle = families.length >> 1;
      await this.writePart(families.slice(0, middle));
      await this.writePart(families.slice(middle));
    } else if (first && first.length > 1) {
      for (const entry of first) await this.writePart([[entry]]);
    } else if (first) await this.failAlone(first[0]!, cause);
  }

  private async writePart(families: readonly (readonly JournalEntry[])[]): Promise<void> {
    try {
      await this.tryWrite(families.flat());
      this.failedInARow = 0;
    } catch (error) {
      if (error instanceof NothingWritable) throw error;
      this.failedInARow += 1;
      if (this.failedInARow > this.mostInARow) throw new NothingWritable(error);
      await this.divideFamilies(families, error);
    }
  }
}

export type WriteOutcome = JournalOutcome | { failed: unknown };

const BACKOFF = new Backoff(500, 60_000);
/** Maximum number of entries that are retried at once. These entries were set aside: each has failed alone. */
const MOST_AT_ONCE = 256;

interface WaitingEntry {
  entry: JournalEntry;
  resolve(outcome: WriteOutcome): void;
}

interface SetAsideTask {
  entries: WaitingEntry[];
  failures: number;
  dueAt: number;
}

/**
 * Entries that were set aside: each failed alone, for a transient reason, while other entries of the batch were
 * written. An entry is retried after a pause, from half a second up to a minute. Later events of its Task, and new
 * child Tasks of its Task, wait until the entry is written.
 */
export class SetAsideEntries {
  private readonly tasks = new Map<string, SetAsideTask>();
  private waiting = 0;

  /** Number of Tasks with entries that failed alone and wait for a retry (are set aside). */
  get size(): number {
    return this.tasks.size;
  }

  /** Bytes of the events in entries that were set aside, because they failed alone and wait for a retry. */
  get bytes(): number {
    return this.waiting;
  }

  /** True if an entry must wait, because an entry of its Task or of its parent waits for a retry (is set aside). */
  isBlocked({ taskId, create }: JournalEntry): boolean {
    const parent = create?.header.parentTaskId;
    return this.tasks.has(taskId) || (parent !== undefined && this.tasks.has(parent));
  }

  /** Adds an entry that failed alone. Resolves with the entry's outcome once a retry has determined it. */
  add(entry: JournalEntry): Promise<WriteOutcome> {
    const { promise, resolve } = Promise.withResolvers<WriteOutcome>();
    const task = this.tasks.get(entry.taskId);
    this.waiting += entryBytes(entry);
    if (task) task.entries.push({ entry, resolve });
    else this.tasks.set(entry.taskId, { entries: [{ entry, resolve }], failures: 0, dueAt: dueAfter(0) });
    return promise;
  }

  /**
   * Returns the first entries of the Tasks that are due for a retry, beginning with the Task that was set aside first.
   * Returns at most MOST_AT_ONCE entries with about `limit` bytes, but one of any size if any is due.
   */
  findDue(limit: number): JournalEntry[] {
    const now = performance.now();
    const due: JournalEntry[] = [];
    let bytes = 0;
    for (const { entries, dueAt } of this.tasks.values()) {
      const { entry } = entries[0]!;
      if (dueAt > now || this.waitsForParent(entry)) continue;
      bytes += entryBytes(entry);
      if (due.length === MOST_AT_ONCE || (due.length > 0 && bytes > limit)) break;
      due.push(entry);
    }
    return due;
  }

  /** Milliseconds until the next entry is due for a retry; `undefined` if none waits. */
  get pause(): number | undefined {
    let first = Infinity;
    for (const { entries, dueAt } of this.tasks.values()) {
      if (!this.waitsForParent(entries[0]!.entry)) first = Math.min(first, dueAt);
    }
    return first === Infinity ? undefined : Math.max(0, first - performance.now());
  }

  /** Reports the outcome of the first waiting entry of a Task. The next entries of the Task are then due at once. */
  settleFirst({ taskId }: JournalEntry, outcome: WriteOutcome): void {
    const task = this.tasks.get(taskId);
    const first = task?.entries.shift();
    if (!task || !first) return;
    this.waiting -= entryBytes(first.entry);
    task.failures = 0;
    task.dueAt = performance.now();
    if (task.entries.length === 0) this.tasks.delete(taskId);
    first.resolve(outcome);
  }

  /**
   * Schedules the next retry of a Task's first entry, after another failure.
   * @returns the number of failures so far
   */
  failAgain({ taskId }: JournalEntry): number {
    const task = this.tasks.get(taskId);
    if (!task) return 0;
    task.failures += 1;
    task.dueAt = dueAfter(task.failures);
    return task.failures;
  }

  private waitsForParent({ create }: JournalEntry): boolean {
    const parent = create?.header.parentTaskId;
    return parent !== undefined && this.tasks.has(parent);
  }
}

function dueAfter(failures: number): number {
  return performance.now() + BACKOFF.pauseAfter(failures);
}

function entryBytes({ events, prompts }: JournalEntry): number {
  return events.reduce((sum, { json }) => sum + json.length, prompts?.body.length ?? 0);
}

/**
 * Rewrites entries after a failed statement. If the answer of an earlier statement was lost, some entries may be
 * committed already, which their logs show. The earlier statement may still run at a server that has not noticed the
 * broken connection. Then the new statement waits for the earlier one, and is rejected (fenced) if that one commits.
 */
export class RepeatedWrite {
  /**
   * @param settle receives the outcome of each entry
   * @param isUncertain true if the answer to an earlier statement was lost
   */
  constructor(
    private readonly store: EntryWrites,
    private readonly settle: (entry: JournalEntry, outcome: WriteOutcome) => void,
    private isUncertain: boolean,
  ) {}

  /**
   * Writes all entries that are not committed yet, and reports the outcomes of all entries.
   * @throws NothingWritable if the server takes no writes or logs cannot be read; otherwise the error of the statement
   */
  async writeRepeated(entries: readonly JournalEntry[]): Promise<void> {
    const missing = this.isUncertain ? await this.settleCommitted(entries) : entries;
    if (missing.length === 0) return;
    const outcomes = await this.writeMissing(missing);
    const fenced = missing.filter((_entry, index) => outcomes[index] !== 'written');
    for (const [index, entry] of missing.entries()) if (outcomes[index] === 'written') this.settle(entry, 'written');
    const lost = this.isUncertain ? await this.settleCommitted(fenced) : fenced;
    for (const entry of lost) this.settle(entry, 'fenced');
  }

  /**
   * Reports the outcomes of the entries whose sequences the log already has: written if the events are those of the
   * entry, else fenced (rejected), or failed if the entry creates the Task.
   * @returns the entries that are not in the log
   */
  private async settleCommitted(entries: readonly JournalEntry[]): Promise<JournalEntry[]> {
    const missing: JournalEntry[] = [];
    for (const entry of entries) {
      const outcome = await this.lookUp(entry);
      if (outcome === undefined) missing.push(entry);
      else this.settle(entry, outcome);
    }
    return missing;
  }

  /** Reads the outcome of an entry from the log; `undefined` if the log has no event with a sequence of the entry. */
  private async lookUp(entry: JournalEntry): Promise<WriteOutcome | undefined> {
    const stored = await this.readCommitted(entry);
    if (stored.length === 0) return undefined;
    if (isCommitted(entry, stored)) return 'written';
    // Only this process creates a Task with that id. It was created, then another replica adopted and continued it.
    return entry.create ? { failed: new ClaimLost(`Task ${entry.taskId} is written elsewhere`) } : 'fenced';
  }

  private async readCommitted({ taskId, after, events }: JournalEntry): Promise<RecordedEvent[]> {
    try {
      return await this.store.readRecordedEvents(taskId, after, events.length + 1);
    } catch (error) {
      throw new NothingWritable(error);
    }
  }

  private async writeMissing(missing: readonly JournalEntry[]): Promise<JournalOutcome[]> {
    try {
      return await this.store.writeBatch(missing);
    } catch (error) {
      if (mayBeCommitted(error)) this.isUncertain = true;
      throw classifyWriteFailure(error) === 'server' ? new NothingWritable(error) : error;
    }
  }
}

/**
 * True if the log has exactly the events of the entry. The length of the log proves nothing: another replica that took
 * over the Task may have written as many events.
 */
function isCommitted({ events }: JournalEntry, stored: readonly RecordedEvent[]): boolean {
  return stored.length === events.length && stored.every(({ json }, index) => json === events[index]?.json);
}

const PAUSE_MS = 1_000;
const MOST_IN_A_ROW = 32;

/** Retries entries that failed alone (are set aside) when they are due, without delaying batches of the journal. */
export class SetAsideRetry {
  private timer: NodeJS.Timeout | undefined;
  private isRetrying = false;

  /** @param limits `mayBegin` returns false while the journal retries a batch */
  constructor(
    private readonly store: TaskStore,
    private readonly logger: Logger,
    private readonly aside: SetAsideEntries,
    private readonly limits: { batchBytes: number; mayBegin(): boolean },
  ) {}

  /**
   * Schedules the next retry. Call it after an entry was added to SetAsideEntries.
   * @param least minimum milliseconds until the retry
   */
  scheduleRetry(least = 0): void {
    const { pause } = this.aside;
    if (this.isRetrying || pause === undefined) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.retryDue(), Math.max(pause, least)).unref();
  }

  private async retryDue(): Promise<void> {
    this.timer = undefined;
    if (!this.limits.mayBegin()) return this.scheduleRetry(PAUSE_MS);
    this.isRetrying = true;
    const isWritable = await this.writeDue();
    this.isRetrying = false;
    this.scheduleRetry(isWritable ? 0 : PAUSE_MS);
  }

  /** Retries the entries that are due. @returns false if the server takes no writes */
  private async writeDue(): Promise<boolean> {
    const due = this.aside.findDue(this.limits.batchBytes);
    const open = new Set(due);
    const settleOpen = (entry: JournalEntry, outcome: WriteOutcome): void => {
      open.delete(entry);
      this.settleEntry(entry, outcome);
    };
    const repeated = new RepeatedWrite(this.store.retries, settleOpen, true);
    const tryWrite: TryWrite = (entries) => repeated.writeRepeated(entries.filter((entry) => open.has(entry)));
    const failAlone = async (entry: JournalEntry, cause: unknown): Promise<void> => this.failAlone(entry, cause);
    try {
      await tryWrite(due).catch((error: unknown) => {
        if (error instanceof NothingWritable) throw error;
        return new DividedWrite(tryWrite, failAlone, MOST_IN_A_ROW).writeDivided(due, error);
      });
      return true;
    } catch {
      return false;
    }
  }

  private settleEntry(entry: JournalEntry, outcome: WriteOutcome): void {
    this.logger.debug({ taskId: entry.taskId, outcome }, 'The retry of an event that was set aside has ended');
    this.aside.settleFirst(entry, outcome);
  }

  private failAlone(entry: JournalEntry, cause: unknown): void {
    if (classifyWriteFailure(cause) === 'refused') {
      this.logger.error({ err: cause, taskId: entry.taskId }, 'A task event could not be written');
      this.aside.settleFirst(entry, { failed: cause });
      return;
    }
    const failures = this.aside.failAgain(entry);
    this.logger.debug({ err: cause, taskId: entry.taskId, failures }, 'An event stays set aside');
  }
}
