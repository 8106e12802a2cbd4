import type { JournalEntry, JournalOutcome } from './task-store.js';

export type WriteOutcome = JournalOutcome | { failed: unknown };

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 60_000;
/** Entries that are written again at once. */
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
 * Entries that failed on their own, for a reason that may pass, while others were written. Each is due again after a
 * pause, from half a second up to a minute. What comes after it waits behind it: later events of its Task, and new Tasks
 * that it calls for.
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

  /** True if an entry must wait: its Task, or the Task that calls for it, is set aside. */
  blocks({ taskId, create }: JournalEntry): boolean {
    const parent = create?.header.parentTaskId;
    return this.tasks.has(taskId) || (parent !== undefined && this.tasks.has(parent));
  }

  /** Resolves with what becomes of the entry. */
  add(entry: JournalEntry): Promise<WriteOutcome> {
    const { promise, resolve } = Promise.withResolvers<WriteOutcome>();
    const task = this.tasks.get(entry.taskId);
    this.waiting += bytesOf(entry);
    if (task) task.entries.push({ entry, resolve });
    else this.tasks.set(entry.taskId, { entries: [{ entry, resolve }], failures: 0, dueAt: dueAfter(0) });
    return promise;
  }

  /** The first entry of each Task that is due, at least one and at most about `limit` bytes, oldest first. */
  due(limit: number): JournalEntry[] {
    const now = performance.now();
    const due: JournalEntry[] = [];
    let bytes = 0;
    for (const { entries, dueAt } of this.tasks.values()) {
      const { entry } = entries[0]!;
      if (dueAt > now || this.waitsForParent(entry)) continue;
      bytes += bytesOf(entry);
      if (due.length === MOST_AT_ONCE || (due.length > 0 && bytes > limit)) break;
      due.push(entry);
    }
    return due;
  }

  /** Milliseconds until something is due; `undefined` where nothing is set aside. */
  get pause(): number | undefined {
    let first = Infinity;
    for (const { entries, dueAt } of this.tasks.values()) {
      if (!this.waitsForParent(entries[0]!.entry)) first = Math.min(first, dueAt);
    }
    return first === Infinity ? undefined : Math.max(0, first - performance.now());
  }

  /** The first entry of a Task is settled; what waited behind it is due. */
  settle({ taskId }: JournalEntry, outcome: WriteOutcome): void {
    const task = this.tasks.get(taskId);
    const first = task?.entries.shift();
    if (!task || !first) return;
    this.waiting -= bytesOf(first.entry);
    task.failures = 0;
    task.dueAt = performance.now();
    if (task.entries.length === 0) this.tasks.delete(taskId);
    first.resolve(outcome);
  }

  /** It failed again on its own. @returns how often by now */
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

function bytesOf({ events }: JournalEntry): number {
  return events.reduce((sum, { json }) => sum + json.length, 0);
}
