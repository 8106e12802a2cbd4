import type { Logger } from '@nestjs/common';
import { classifyWriteFailure } from '#libs/postgres';
import { DividedWrite, NothingWritable, type TryWrite } from './divided-write.js';
import { RepeatedWrite } from './repeated-write.js';
import type { SetAsideEntries, WriteOutcome } from './set-aside-entries.js';
import type { JournalEntry, TaskStore } from './task-store.js';

const PAUSE_MS = 1_000;
const MOST_IN_A_ROW = 32;

/** Retries entries that are set aside when they are due, without delaying batches of the journal. */
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

  /** Schedules the next attempt. Call it after an entry was set aside. */
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
    this.logger.debug({ taskId: entry.taskId, outcome }, 'An event that was set aside is settled');
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
