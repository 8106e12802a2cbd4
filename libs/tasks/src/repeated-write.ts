import { classifyWriteFailure, mayBeCommitted } from '#libs/postgres';
import { ClaimLost } from './claim-lost.js';
import { NothingWritable } from './divided-write.js';
import type { WriteOutcome } from './set-aside-entries.js';
import type { RecordedEvent } from './task-event.js';
import type { EntryWrites, JournalEntry, JournalOutcome } from './task-store.js';

/**
 * Rewrites entries after a failed statement. If the answer of an earlier statement was lost, some entries may be
 * committed already, which their logs show. If that statement still runs at a server that has not noticed the broken
 * connection, this one waits for it and is fenced by its result.
 */
export class RepeatedWrite {
  /** @param isUncertain true if the answer to an earlier statement was lost */
  constructor(
    private readonly store: EntryWrites,
    private readonly settle: (entry: JournalEntry, outcome: WriteOutcome) => void,
    private isUncertain: boolean,
  ) {}

  /**
   * Settles all entries, or those that turn out to be written.
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

  /** Settles the entries whose place in the log is taken, by this process or another. @returns the others */
  private async settleCommitted(entries: readonly JournalEntry[]): Promise<JournalEntry[]> {
    const missing: JournalEntry[] = [];
    for (const entry of entries) {
      const outcome = await this.lookUp(entry);
      if (outcome === undefined) missing.push(entry);
      else this.settle(entry, outcome);
    }
    return missing;
  }

  /** Reads the outcome of an entry from the log; `undefined` if the log ends before it. */
  private async lookUp(entry: JournalEntry): Promise<WriteOutcome | undefined> {
    const stored = await this.readCommitted(entry);
    if (stored.length === 0) return undefined;
    if (isCommitted(entry, stored)) return 'written';
    // Only this process creates a Task with that id: it was created, then another replica adopted and continued it.
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
 * True if the log holds exactly these events. Its length proves nothing: another replica that adopted the Task may have
 * written as many.
 */
function isCommitted({ events }: JournalEntry, stored: readonly RecordedEvent[]): boolean {
  return stored.length === events.length && stored.every(({ json }, index) => json === events[index]?.json);
}
