import { Injectable, Logger, Optional } from '@nestjs/common';
import { EventEmitter2 } from '@nestjs/event-emitter';
import { AppConfig, Readiness } from '#libs/service';
import { TASKS_COMMITTED } from '../feed/commit-log.js';
import { type JournalEntry, type JournalOutcome, TaskStore } from '../store/task-store.js';
import { TaskMetrics } from '../task-metrics.js';
import { type BatchOutcome, BatchRecovery } from './batch-recovery.js';
import { SetAsideEntries, SetAsideRetry, type WriteOutcome } from './failed-entries.js';
import { fairCut } from './fair-cut.js';

/**
 * Event that waits for a batch. `mark` is its number among the events of all Tasks, in the order in which they were
 * recorded.
 */
export interface WaitingEvent {
  mark: number;
  bytes: number;
}

/**
 * Source of the waiting events of one Task, from which the journal takes an entry when a batch begins. TaskRecording
 * implements it.
 */
export interface JournalSource {
  /** Account of the Task's caller, which child Tasks share. All accounts get equal parts of a full batch. */
  readonly account: string;
  /** Waiting events, oldest first. */
  readonly waitingEvents: readonly WaitingEvent[];
  /**
   * Removes the waiting events and returns them as one entry: all of them, or those up to the event with the number
   * `upTo`; `undefined` if there are none. Called once per batch.
   */
  drainEntry(upTo?: number): JournalEntry | undefined;
  /**
   * Reports the outcome of an entry that `drainEntry` returned: it is durable; it was fenced (rejected because another
   * replica has the claim) and is lost; or it failed.
   */
  settleEntry(entry: JournalEntry, outcome: JournalOutcome | { failed: unknown }): void;
}

/**
 * Maximum bytes of a batch with events of several callers, as a fraction of the byte limit. Smaller batches shorten the
 * wait of a new caller, which waits for the two batches under way. The additional commits cost little compared to the
 * megabytes of a full batch.
 */
const OF_SHARED = 1 / 8;

/** Queue of the events of all Tasks that wait for a batch. */
class JournalQueue {
  private sources = new Set<JournalSource>();
  private lastMark = 0;
  private waiting = 0;

  /** Bytes of the waiting events. Events whose recording was abandoned since the last batch still count. */
  get bytes(): number {
    return this.waiting;
  }

  /** Number of Tasks with waiting events. */
  get tasks(): number {
    return this.sources.size;
  }

  get isEmpty(): boolean {
    return this.sources.size === 0;
  }

  private get isShared(): boolean {
    let first: string | undefined;
    for (const { account } of this.sources) {
      first ??= account;
      if (account !== first) return true;
    }
    return false;
  }

  /** Adds a source's newest event, of the given bytes. @returns its number (`mark`) among the events of all Tasks */
  add(source: JournalSource, bytes: number): number {
    this.sources.add(source);
    this.waiting += bytes;
    return ++this.lastMark;
  }

  /**
   * Takes a batch: all waiting events, up to `limit` bytes, or an eighth of `limit` if several callers wait. If more
   * events wait, each account gets an equal share, oldest events first. A batch never skips an earlier event of an
   * account, since a later event may depend on it.
   */
  takeBatch(limit: number): Map<JournalSource, JournalEntry> {
    const most = this.waiting > limit * OF_SHARED && this.isShared ? limit * OF_SHARED : limit;
    const cut = this.waiting > most ? fairCut(this.sources, most) : undefined;
    const upTo = cut && cut.rest > 0 ? cut.upTo : undefined;
    const batch = new Map<JournalSource, JournalEntry>();
    const { sources } = this;
    // A new Set: see ShortLivedMap for what a reused one would retain.
    this.sources = new Set();
    for (const source of sources) {
      const entry = source.drainEntry(upTo && (upTo.get(source.account) ?? 0));
      if (entry) batch.set(source, entry);
      if (source.waitingEvents.length > 0) this.sources.add(source);
    }
    this.waiting = cut?.rest ?? 0;
    return batch;
  }
}

/** Outcomes of the entries of a batch. `troubled` is true if it took more than one attempt to write the batch. */
interface WrittenBatch {
  outcomes: BatchOutcome[];
  troubled: boolean;
}

/**
 * Writes batches and retries them without limit; BatchRecovery handles failed ones. An entry that fails on its own
 * while others are written is set aside for a retry: only its Task, and new child Tasks of that Task, wait for it.
 */
class JournalWriter {
  /** Number of batches that have failed and are being retried. */
  private inTrouble = 0;
  /** Resolves when the newest batch has been sent to the store for the first time. */
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

  /** Number of Tasks with entries that failed alone and wait for a retry, and the bytes of these entries' events. */
  get setAside(): { tasks: number; bytes: number } {
    return { tasks: this.aside.size, bytes: this.aside.bytes };
  }

  /**
   * Writes a batch. Never rejects.
   * @param before resolves when the previous batch has its outcomes, with true if it needed more than one attempt
   */
  async writeEntries(entries: readonly JournalEntry[], before: Promise<boolean>): Promise<WrittenBatch> {
    const { promise, resolve: sent } = Promise.withResolvers<void>();
    const inTurn = this.sent;
    this.sent = promise;
    // Keeps the order: an earlier batch is still being retried, or waits for a batch that is being retried.
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

  /** Sets aside the entries that must wait because an entry of their Task or parent waits for a retry. */
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
   * Writes the fenced (rejected) entries of a batch again if the batch was sent before the outcomes of the previous
   * batch were known: the previous batch may have written the Task or parent that an entry needs. The next batch waits.
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

/**
 * Number of concurrent batches: the database works on one batch while this process handles the outcomes of another. The
 * store writes them one after the other, on one session.
 */
const BATCHES_UNDER_WAY = 2;
/** Maximum milliseconds that a batch waits for the end of a batch with more Tasks that is being written. */
const PATIENCE_MS = 5;

/**
 * Write-ahead journal: writes the events of all Tasks in batches. One statement and one commit write all events that
 * arrived during the last commit, up to JOURNAL_BATCH_LIMIT. Under light load a batch is one Task; under heavy load
 * hundreds of Tasks share the cost of a commit.
 * - Events of one caller become durable in the order in which they were enqueued, over all its Tasks, so a crash leaves
 *   a prefix. Callers share a full batch.
 * - If an entry fails on its own, the order holds within each Task, and from a Task to its children (ADR 7).
 * - An event is reported as written only after its commit. After a lost connection the journal retries until the
 *   database is back. A commit whose answer was lost is recognized, not repeated.
 * - Bad data of one Task fails only that Task, even if it breaks the connection. An entry that fails on its own for
 *   another reason is set aside and retried (ADR 19).
 * - A journal that stalls while events wait fails the readiness check of the replica.
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
  /**
   * Time (`performance.now()`) at which the outcomes of a batch were last known, or the first event arrived after the
   * journal was idle.
   */
  private movedAt = 0;
  /** Resolves when the outcomes of the previous batch are known, with true if it needed more than one attempt. */
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

  /**
   * Time since the last write while events wait, in milliseconds; 0 if no event waits. Entries that are retried
   * separately do not count.
   */
  get standsStillMs(): number {
    return this.isIdle ? 0 : performance.now() - this.movedAt;
  }

  /** Limit on `standsStillMs`, in milliseconds (JOURNAL_STALL_LIMIT): beyond it, the journal counts as stalled. */
  get stallLimitMs(): number {
    return this.config.memory.journalStallMs;
  }

  /**
   * True if nothing was written for `stallLimitMs`. New events would only wait behind events that cannot be written.
   */
  get isStalled(): boolean {
    return this.standsStillMs >= this.stallLimitMs;
  }

  /**
   * Enqueues an event of the source, of the given bytes, for the next batch.
   * @returns the event's number among the events of all Tasks (see WaitingEvent)
   */
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
   * True if a batch should start now: no batch is being written, or at least as many Tasks wait as the newest batch
   * has. The store writes one batch at a time, so a smaller batch would only wait there; meanwhile it can grow here.
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

  /** Emits TASKS_COMMITTED. An error of a listener must not affect the journal. */
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
