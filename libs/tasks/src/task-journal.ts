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
 * Batches under way at once: the database works on one while the answers to the one before are given. The store writes
 * them one after the other, on one session.
 */
const BATCHES_UNDER_WAY = 2;
/** A batch that takes longer than that is not waited for by a smaller one. */
const PATIENCE_MS = 5;

/**
 * Writes the events of all Tasks in flight: one statement and one commit for whatever arrived while the last commit was
 * under way, up to JOURNAL_BATCH_LIMIT. Under light load a batch is one Task; under heavy load the cost of a commit is
 * shared by hundreds.
 *
 * Promises: of each caller, what was enqueued first is durable first, over all its Tasks, so a crash leaves a beginning of
 * what happened here; callers share a batch that is full. Where an entry fails on its own, the order holds within each
 * Task, and from a Task to those it calls for (ADR 7).
 * Nothing is reported written that is not committed; a lost connection is retried until the database is back, and a
 * commit whose answer was lost is recognised, not repeated. One Task's bad data fails that Task alone, also where it
 * breaks the connection; an entry that fails on its own for another reason is set aside and tried again (ADR 19). A
 * journal that stands still while something waits makes the replica not ready.
 */
@Injectable()
export class TaskJournal {
  private readonly logger = new Logger(TaskJournal.name);
  private readonly queue = new JournalQueue();
  private readonly writer: JournalWriter;
  private underWay = 0;
  private bytesUnderWay = 0;
  /** Of the newest batch. */
  private tasksUnderWay = 0;
  private gathering = false;
  private patience: NodeJS.Timeout | undefined;
  /** When a batch was settled last, or the first event came after there was nothing to write. */
  private movedAt = 0;
  /** Resolves when the batch before has been settled; whether it needed more than one try. */
  private last: Promise<boolean> = Promise.resolve(false);

  constructor(
    store: TaskStore,
    private readonly metrics: TaskMetrics,
    private readonly config: AppConfig,
    @Optional() readiness?: Readiness,
    @Optional() private readonly facts?: EventEmitter2,
  ) {
    this.writer = new JournalWriter(store, this.logger, config.memory.journalBatchBytes);
    readiness?.add('journal', () => this.complaint());
    metrics.watchJournal({
      seconds: () => this.standsStillMs / 1000,
      bytes: () => this.bytes,
      setAside: () => this.writer.setAside.tasks,
    });
  }

  /** Of events that are not durable yet. */
  get bytes(): number {
    return this.queue.bytes + this.bytesUnderWay + this.writer.setAside.bytes;
  }

  /** For how long nothing was written although something waits; 0 where nothing does. What is set aside does not count. */
  get standsStillMs(): number {
    return this.isIdle ? 0 : performance.now() - this.movedAt;
  }

  /** Milliseconds for which nothing may be written while something waits: JOURNAL_STALL_LIMIT. */
  get stallLimitMs(): number {
    return this.config.memory.journalStallMs;
  }

  /** True if the journal stands still for longer than that: what is new would only wait behind what cannot be written. */
  get isStalled(): boolean {
    return this.standsStillMs >= this.stallLimitMs;
  }

  /** Has an event of the source written with the next batch. @returns its place among the events of all Tasks */
  enqueue(source: JournalSource, bytes: number): number {
    if (this.isIdle) this.movedAt = performance.now();
    const mark = this.queue.add(source, bytes);
    this.gather();
    return mark;
  }

  private get isIdle(): boolean {
    return this.underWay === 0 && this.queue.isEmpty;
  }

  private complaint(): string | undefined {
    if (!this.isStalled) return undefined;
    return `Nothing was written for ${Math.floor(this.standsStillMs / 1000)} s although ${this.bytes} bytes wait`;
  }

  /** What happens in the same turn of the event loop is written together. */
  private gather(): void {
    if (this.gathering || this.underWay === BATCHES_UNDER_WAY) return;
    this.gathering = true;
    setImmediate(() => {
      this.gathering = false;
      this.look();
    });
  }

  private look(): void {
    if (this.queue.isEmpty || this.underWay === BATCHES_UNDER_WAY) return;
    if (this.isWorthwhile) this.begin();
    else this.patience ??= setTimeout(() => this.begin(), PATIENCE_MS);
  }

  /** The store writes one batch after the other: a second one only waits there, and had better be no smaller than it. */
  private get isWorthwhile(): boolean {
    return this.underWay === 0 || this.queue.tasks >= this.tasksUnderWay;
  }

  private begin(): void {
    clearTimeout(this.patience);
    this.patience = undefined;
    const waiting = this.queue.bytes;
    const batch = this.queue.take(this.config.memory.journalBatchBytes);
    if (batch.size === 0) return;
    const bytes = waiting - this.queue.bytes;
    this.underWay += 1;
    this.tasksUnderWay = batch.size;
    this.bytesUnderWay += bytes;
    this.last = this.writeBatch(batch, this.last).finally(() => void (this.bytesUnderWay -= bytes));
    if (!this.queue.isEmpty) this.gather();
  }

  private async writeBatch(batch: Map<JournalSource, JournalEntry>, before: Promise<boolean>): Promise<boolean> {
    const started = performance.now();
    const entries = [...batch.values()];
    const { outcomes, troubled } = await this.writer.write(entries, before);
    this.movedAt = performance.now();
    this.metrics.batchWritten(entries.length, (this.movedAt - started) / 1000);
    this.underWay -= 1;
    // The database works on while answers are given.
    this.look();
    let index = 0;
    for (const [source, entry] of batch) {
      const outcome = outcomes[index++];
      if (typeof outcome === 'object' && 'later' in outcome) void this.settleLater(source, entry, outcome.later);
      else this.settle(source, entry, outcome);
    }
    if (outcomes.includes('written')) this.emitCommitted();
    return troubled;
  }

  private async settleLater(source: JournalSource, entry: JournalEntry, later: Promise<WriteOutcome>): Promise<void> {
    const outcome = await later;
    this.settle(source, entry, outcome);
    if (outcome === 'written') this.emitCommitted();
  }

  /** The batch is durable: what a listener makes of that is nothing to the journal. */
  private emitCommitted(): void {
    try {
      this.facts?.emit(TASKS_COMMITTED);
    } catch (error) {
      this.logger.error({ err: error }, 'A listener to committed batches failed');
    }
  }

  private settle(source: JournalSource, entry: JournalEntry, outcome?: WriteOutcome): void {
    if (outcome === 'written') this.metrics.reached(entry.state);
    else if (outcome === 'fenced' && !entry.create) this.metrics.writeRefused();
    source.settle(entry, outcome ?? { failed: new Error('No outcome') });
  }
}
