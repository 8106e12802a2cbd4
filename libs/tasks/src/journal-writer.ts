import type { Logger } from '@nestjs/common';
import { type BatchOutcome, BatchRecovery } from './batch-recovery.js';
import { SetAsideEntries } from './set-aside-entries.js';
import { SetAsideRetry } from './set-aside-retry.js';
import type { JournalEntry, TaskStore } from './task-store.js';

/** Outcomes of a batch. `troubled` is true if it needed more than one attempt. */
interface WrittenBatch {
  outcomes: BatchOutcome[];
  troubled: boolean;
}

/**
 * Writes batches and retries without limit; see BatchRecovery for failed ones. An entry that fails on its own while
 * others are written is set aside. Only its own Task, and new child Tasks of that Task, wait for it.
 */
export class JournalWriter {
  /** Number of batches that are being retried. */
  private inTrouble = 0;
  /** Resolves when the newest batch has first been sent to the store. */
  private sent = Promise.resolve();
  private readonly aside = new SetAsideEntries();
  private readonly retry: SetAsideRetry;

  /** @param batchBytes maximum bytes of the events of a batch */
  constructor(
    private readonly store: TaskStore,
    private readonly logger: Logger,
    batchBytes: number,
  ) {
    this.retry = new SetAsideRetry(store, logger, this.aside, {
      batchBytes,
      mayBegin: () => this.inTrouble === 0,
    });
  }

  /** Number of Tasks with entries that are set aside, and the bytes of their events. */
  get setAside(): { tasks: number; bytes: number } {
    return { tasks: this.aside.size, bytes: this.aside.bytes };
  }

  /**
   * Writes a batch. Never rejects.
   * @param before resolves when the previous batch is settled, with true if it needed more than one attempt
   */
  async writeEntries(entries: readonly JournalEntry[], before: Promise<boolean>): Promise<WrittenBatch> {
    const { promise, resolve: sent } = Promise.withResolvers<void>();
    const inTurn = this.sent;
    this.sent = promise;
    // Keeps the order: an earlier batch is still being retried, or waits for one that is.
    if (this.inTrouble > 0) await before;
    await inTurn;
    // The next batch continues after the call below, whatever its outcome.
    sent();
    const blocked = this.setBlockedAside(entries);
    if (blocked.size === 0) return this.writeReady(entries, before);
    const ready = entries.filter((entry) => !blocked.has(entry));
    const { outcomes, troubled } = await this.writeReady(ready, before);
    return { outcomes: entries.map((entry) => blocked.get(entry) ?? outcomes.shift()!), troubled };
  }

  private async writeReady(entries: readonly JournalEntry[], before: Promise<boolean>): Promise<WrittenBatch> {
    try {
      const outcomes = entries.length > 0 ? await this.store.writeBatch(entries) : [];
      const troubled = await before;
      return troubled ? await this.rewriteFenced(entries, outcomes) : { outcomes, troubled };
    } catch (error) {
      return { outcomes: await this.writeAgain(entries, before, error), troubled: true };
    }
  }

  /** Sets aside the entries that must wait for entries that are set aside. */
  private setBlockedAside(entries: readonly JournalEntry[]): Map<JournalEntry, BatchOutcome> {
    const blocked = new Map<JournalEntry, BatchOutcome>();
    if (this.aside.size === 0) return blocked;
    for (const entry of entries) if (this.aside.isBlocked(entry)) blocked.set(entry, { later: this.aside.add(entry) });
    return blocked;
  }

  private async writeAgain(
    entries: readonly JournalEntry[],
    before: Promise<boolean>,
    cause: unknown,
  ): Promise<BatchOutcome[]> {
    this.inTrouble += 1;
    try {
      await before;
      return await this.recoverEntries(entries, cause);
    } finally {
      this.inTrouble -= 1;
    }
  }

  /**
   * Rewrites fenced entries. The previous batch was not written when they arrived, and what they continue may exist
   * now. The next batch waits.
   */
  private async rewriteFenced(
    entries: readonly JournalEntry[],
    outcomes: readonly BatchOutcome[],
  ): Promise<WrittenBatch> {
    const fenced = entries.filter((_entry, index) => outcomes[index] === 'fenced');
    if (fenced.length === 0) return { outcomes: [...outcomes], troubled: false };
    this.inTrouble += 1;
    try {
      const rewritten = await this.recoverEntries(fenced);
      const all = outcomes.map((outcome) => (outcome === 'fenced' ? rewritten.shift()! : outcome));
      return { outcomes: all, troubled: true };
    } finally {
      this.inTrouble -= 1;
    }
  }

  private async recoverEntries(entries: readonly JournalEntry[], cause?: unknown): Promise<BatchOutcome[]> {
    const outcomes = await new BatchRecovery(this.store, this.logger, this.aside, entries, cause).recoverBatch();
    this.retry.scheduleRetry();
    return outcomes;
  }
}
