import type { JournalEntry, JournalOutcome } from './task-store.js';

export type WriteOutcome = JournalOutcome | { failed: unknown };

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 60_000;
/** Maximum number of entries that are retried at once. */
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
 * Entries that failed on their own, for a passing reason, while others were written. Each is due again after a pause,
 * from half a second up to a minute. Later events of its Task, and new child Tasks of it, wait behind it.
 */
export class SetAsideEntries {
  private readonly tasks = new Map<string, SetAsideTask>();
  private waiting = 0;

  /** Number of Tasks. */
  get size(): number {
    return this.tasks.size;
  }

  /** Bytes of the events. */
  get bytes(): number {
    return this.waiting;
  }

  /** True if an entry must wait, because its Task or its parent is set aside. */
  isBlocked({ taskId, create }: JournalEntry): boolean {
    const parent = create?.header.parentTaskId;
    return this.tasks.has(taskId) || (parent !== undefined && this.tasks.has(parent));
  }

  /** Sets an entry aside. Resolves with its outcome. */
  add(entry: JournalEntry): Promise<WriteOutcome> {
    const { promise, resolve } = Promise.withResolvers<WriteOutcome>();
    const task = this.tasks.get(entry.taskId);
    this.waiting += entryBytes(entry);
    if (task) task.entries.push({ entry, resolve });
    else this.tasks.set(entry.taskId, { entries: [{ entry, resolve }], failures: 0, dueAt: dueAfter(0) });
    return promise;
  }

  /** Returns the first entry of each Task that is due, oldest first: at least one, and at most about `limit` bytes. */
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

  /** Milliseconds until an entry is due; `undefined` if none is set aside. */
  get pause(): number | undefined {
    let first = Infinity;
    for (const { entries, dueAt } of this.tasks.values()) {
      if (!this.waitsForParent(entries[0]!.entry)) first = Math.min(first, dueAt);
    }
    return first === Infinity ? undefined : Math.max(0, first - performance.now());
  }

  /** Settles the first entry of a Task. The entries behind it are due then. */
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

  /** Schedules the next attempt after another failure. @returns the number of failures so far */
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
  return performance.now() + Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS);
}

function entryBytes({ events }: JournalEntry): number {
  return events.reduce((sum, { json }) => sum + json.length, 0);
}
