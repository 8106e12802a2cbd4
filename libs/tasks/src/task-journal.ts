import { Injectable, Logger, Optional } from '@nestjs/common';
import { EventEmitter2 } from '@nestjs/event-emitter';
import { AppConfig, Readiness } from '#libs/service';
import { JournalQueue, type JournalSource } from './journal-queue.js';
import { JournalWriter } from './journal-writer.js';
import type { WriteOutcome } from './set-aside-entries.js';
import { TaskMetrics } from './task-metrics.js';
import { type JournalEntry, TaskStore } from './task-store.js';
import { TASKS_COMMITTED } from './tasks-committed.js';

/**
 * Number of concurrent batches: the database works on one while results of the previous one are processed. The store
 * writes them one after the other, on one session.
 */
const BATCHES_UNDER_WAY = 2;
/** Milliseconds that a smaller batch waits for the running one. */
const PATIENCE_MS = 5;

/**
 * Writes the events of all Tasks in flight: one statement and one commit for all events that arrived during the last
 * commit, up to JOURNAL_BATCH_LIMIT. Under light load a batch is one Task; under heavy load hundreds share the cost of
 * a commit.
 * - Events of one caller become durable in the order in which they were enqueued, over all its Tasks, so a crash leaves
 *   a prefix. Callers share a full batch.
 * - If an entry fails on its own, the order holds within each Task, and from a Task to its children (ADR 7).
 * - An event is reported written only after its commit. A lost connection is retried until the database is back. A
 *   commit whose answer was lost is recognized, not repeated.
 * - Bad data of one Task fails only that Task, even if it breaks the connection. An entry that fails on its own for
 *   another reason is set aside and retried (ADR 19).
 * - A journal that stalls while events wait makes the replica not ready.
 */
@Injectable()
export class TaskJournal {
  private readonly logger = new Logger(TaskJournal.name);
  private readonly queue = new JournalQueue();
  private readonly writer: JournalWriter;
  private underWay = 0;
  private bytesUnderWay = 0;
  /** Number of Tasks in the newest batch. */
  private tasksUnderWay = 0;
  private gathering = false;
  private patience: NodeJS.Timeout | undefined;
  /** Time at which a batch was last settled, or the first event arrived after the journal was idle. */
  private movedAt = 0;
  /** Resolves when the previous batch is settled, with true if it needed more than one attempt. */
  private last: Promise<boolean> = Promise.resolve(false);

  constructor(
    store: TaskStore,
    private readonly metrics: TaskMetrics,
    private readonly config: AppConfig,
    @Optional() readiness?: Readiness,
    @Optional() private readonly facts?: EventEmitter2,
  ) {
    this.writer = new JournalWriter(store, this.logger, config.memory.journalBatchBytes);
    readiness?.add('journal', () => this.describeStall());
    metrics.watchJournal({
      seconds: () => this.standsStillMs / 1000,
      bytes: () => this.bytes,
      setAside: () => this.writer.setAside.tasks,
    });
  }

  /** Bytes of events that are not durable yet. */
  get bytes(): number {
    return this.queue.bytes + this.bytesUnderWay + this.writer.setAside.bytes;
  }

  /** Milliseconds without a write while events wait; 0 if none do. Entries that are set aside do not count. */
  get standsStillMs(): number {
    return this.isIdle ? 0 : performance.now() - this.movedAt;
  }

  /** Maximum milliseconds without a write while events wait (JOURNAL_STALL_LIMIT). */
  get stallLimitMs(): number {
    return this.config.memory.journalStallMs;
  }

  /**
   * True if the journal is stalled beyond the limit. New events would only wait behind those that cannot be written.
   */
  get isStalled(): boolean {
    return this.standsStillMs >= this.stallLimitMs;
  }

  /** Enqueues an event of the source for the next batch. @returns its place among the events of all Tasks */
  enqueueEvent(source: JournalSource, bytes: number): number {
    if (this.isIdle) this.movedAt = performance.now();
    const mark = this.queue.add(source, bytes);
    this.gatherBatch();
    return mark;
  }

  private get isIdle(): boolean {
    return this.underWay === 0 && this.queue.isEmpty;
  }

  private describeStall(): string | undefined {
    if (!this.isStalled) return undefined;
    return `Nothing was written for ${Math.floor(this.standsStillMs / 1000)} s although ${this.bytes} bytes wait`;
  }

  /** Starts a batch after this turn of the event loop, so that all events of the turn are written together. */
  private gatherBatch(): void {
    if (this.gathering || this.underWay === BATCHES_UNDER_WAY) return;
    this.gathering = true;
    setImmediate(() => {
      this.gathering = false;
      this.beginIfWorthwhile();
    });
  }

  private beginIfWorthwhile(): void {
    if (this.queue.isEmpty || this.underWay === BATCHES_UNDER_WAY) return;
    if (this.isWorthwhile) this.beginBatch();
    else this.patience ??= setTimeout(() => this.beginBatch(), PATIENCE_MS);
  }

  /**
   * True if a batch should start now. A second batch only waits at the store, so it should be no smaller than the
   * first.
   */
  private get isWorthwhile(): boolean {
    return this.underWay === 0 || this.queue.tasks >= this.tasksUnderWay;
  }

  private beginBatch(): void {
    clearTimeout(this.patience);
    this.patience = undefined;
    const waiting = this.queue.bytes;
    const batch = this.queue.takeBatch(this.config.memory.journalBatchBytes);
    if (batch.size === 0) return;
    const bytes = waiting - this.queue.bytes;
    this.underWay += 1;
    this.tasksUnderWay = batch.size;
    this.bytesUnderWay += bytes;
    this.last = this.writeBatch(batch, this.last).finally(() => void (this.bytesUnderWay -= bytes));
    if (!this.queue.isEmpty) this.gatherBatch();
  }

  private async writeBatch(batch: Map<JournalSource, JournalEntry>, before: Promise<boolean>): Promise<boolean> {
    const started = performance.now();
    const entries = [...batch.values()];
    const { outcomes, troubled } = await this.writer.writeEntries(entries, before);
    this.movedAt = performance.now();
    this.metrics.batchWritten(entries.length, (this.movedAt - started) / 1000);
    this.underWay -= 1;
    // The database works on the next batch while results are processed.
    this.beginIfWorthwhile();
    let index = 0;
    for (const [source, entry] of batch) {
      const outcome = outcomes[index++];
      if (typeof outcome === 'object' && 'later' in outcome) void this.settleLater(source, entry, outcome.later);
      else this.settleEntry(source, entry, outcome);
    }
    if (outcomes.includes('written')) this.emitCommitted();
    return troubled;
  }

  private async settleLater(source: JournalSource, entry: JournalEntry, later: Promise<WriteOutcome>): Promise<void> {
    const outcome = await later;
    this.settleEntry(source, entry, outcome);
    if (outcome === 'written') this.emitCommitted();
  }

  /** Emits the commit. A failing listener must not affect the journal. */
  private emitCommitted(): void {
    try {
      this.facts?.emit(TASKS_COMMITTED);
    } catch (error) {
      this.logger.error({ err: error }, 'A listener to committed batches failed');
    }
  }

  private settleEntry(source: JournalSource, entry: JournalEntry, outcome?: WriteOutcome): void {
    if (outcome === 'written') this.metrics.countReached(entry.state);
    else if (outcome === 'fenced' && !entry.create) this.metrics.writeRefused();
    source.settleEntry(entry, outcome ?? { failed: new Error('No outcome') });
  }
}
