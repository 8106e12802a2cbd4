import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { isOutage } from '#libs/platform';
import { TaskMetrics } from './task-metrics.js';
import { type JournalEntry, type JournalOutcome, TaskStore } from './task-store.js';

/** A Task's events that wait to be written. The journal asks for them when a batch begins, not before. */
export interface JournalSource {
  /** Everything that waits, as one entry; `undefined` if nothing does. Called once per batch. */
  drain(): JournalEntry | undefined;
  /** The entry that `drain` gave is durable, or fenced and lost. */
  settle(entry: JournalEntry, outcome: JournalOutcome | { failed: unknown }): void;
}

/**
 * Batches under way at once: the database works on one while the answers to the one before are given. The store writes
 * them one after the other, on one session.
 */
const BATCHES_UNDER_WAY = 2;
const FIRST_RETRY_MS = 50;
const LAST_RETRY_MS = 2000;

/**
 * Writes the events of all Tasks in flight: one statement and one commit for whatever arrived while the last commit was
 * under way. Under light load a batch is one Task; under heavy load the cost of a commit is shared by hundreds.
 *
 * Promises: what was enqueued first is durable first, over all Tasks, so a crash leaves a beginning of what happened
 * here; after refused content, until the batch is written again, that holds within each Task only (ADR 7). Nothing is reported written that is not committed; a lost connection is retried until the database is back,
 * and a commit whose answer was lost is recognised, not repeated; one Task's bad data fails that Task alone.
 */
@Injectable()
export class TaskJournal {
  private readonly logger = new Logger(TaskJournal.name);
  private readonly waiting = new Set<JournalSource>();
  private underWay = 0;
  private gathering = false;
  /** Batches that are being written again. */
  private inTrouble = 0;
  /** Resolves when the batch before has been settled; whether it needed more than one try. */
  private last: Promise<boolean> = Promise.resolve(false);

  constructor(
    private readonly store: TaskStore,
    private readonly metrics: TaskMetrics,
  ) {}

  /** Has the source's events written with the next batch. */
  enqueue(source: JournalSource): void {
    this.waiting.add(source);
    this.gather();
  }

  /** What happens in the same turn of the event loop is written together. */
  private gather(): void {
    if (this.gathering || this.underWay === BATCHES_UNDER_WAY) return;
    this.gathering = true;
    setImmediate(() => this.begin());
  }

  private begin(): void {
    this.gathering = false;
    const batch = this.take();
    if (batch.size === 0) return;
    this.underWay += 1;
    this.last = this.writeBatch(batch, this.last).finally(() => {
      this.underWay -= 1;
      if (this.waiting.size > 0) this.gather();
    });
  }

  /** Everything: a batch that left something out could make durable what came of it. */
  private take(): Map<JournalSource, JournalEntry> {
    const batch = new Map<JournalSource, JournalEntry>();
    for (const source of this.waiting) {
      this.waiting.delete(source);
      const entry = source.drain();
      if (entry) batch.set(source, entry);
    }
    return batch;
  }

  private async writeBatch(batch: Map<JournalSource, JournalEntry>, before: Promise<boolean>): Promise<boolean> {
    const started = performance.now();
    const entries = [...batch.values()];
    const { outcomes, troubled } = await this.write(entries, before);
    this.metrics.batchWritten(entries.length, (performance.now() - started) / 1000);
    let index = 0;
    for (const [source, entry] of batch) {
      const outcome = outcomes[index++] ?? { failed: new Error('No outcome') };
      if (outcome === 'written') this.metrics.reached(entry.state);
      else if (outcome === 'fenced' && !entry.create) this.metrics.writeRefused();
      source.settle(entry, outcome);
    }
    return troubled;
  }

  private async write(
    entries: readonly JournalEntry[],
    before: Promise<boolean>,
  ): Promise<{ outcomes: Outcome[]; troubled: boolean }> {
    // What came first is first also now: it is still being tried again.
    if (this.inTrouble > 0) await before;
    try {
      const outcomes = await this.store.write(entries);
      const troubled = await before;
      return { outcomes: troubled ? await this.rewriteFenced(entries, outcomes) : outcomes, troubled: false };
    } catch (error) {
      return { outcomes: await this.writeAgain(entries, before, error), troubled: true };
    }
  }

  private async writeAgain(
    entries: readonly JournalEntry[],
    before: Promise<boolean>,
    cause: unknown,
  ): Promise<Outcome[]> {
    this.inTrouble += 1;
    try {
      await before;
      return await (isOutage(cause) ? this.writeAfterOutage(entries, cause) : this.writeOneByOne(entries, cause));
    } finally {
      this.inTrouble -= 1;
    }
  }

  /** The batch before was not written when these came: what they go on from may be there now. */
  private async rewriteFenced(entries: readonly JournalEntry[], outcomes: readonly Outcome[]): Promise<Outcome[]> {
    const again = entries.filter((_entry, index) => outcomes[index] === 'fenced');
    if (again.length === 0) return [...outcomes];
    const rewritten = await this.writeOneByOne(again);
    return outcomes.map((outcome) => (outcome === 'fenced' ? rewritten.shift()! : outcome));
  }

  /** Some entry made the statement fail; on its own it fails alone. Here the order is kept within each Task only. */
  private async writeOneByOne(entries: readonly JournalEntry[], cause?: unknown): Promise<Outcome[]> {
    if (entries.length === 1 && cause !== undefined) return [this.refused(entries[0]!, cause)];
    const outcomes: Outcome[] = [];
    for (const entry of entries) outcomes.push(await this.writeAlone(entry));
    return outcomes;
  }

  private async writeAlone(entry: JournalEntry): Promise<Outcome> {
    try {
      return (await this.store.write([entry]))[0] ?? 'fenced';
    } catch (error) {
      if (!isOutage(error)) return this.refused(entry, error);
      return (await this.writeAfterOutage([entry], error))[0] ?? 'fenced';
    }
  }

  private refused(entry: JournalEntry, cause: unknown): Outcome {
    this.logger.error({ err: cause, taskId: entry.taskId }, 'A task event could not be written');
    return { failed: cause };
  }

  private async writeAfterOutage(entries: readonly JournalEntry[], cause: unknown): Promise<Outcome[]> {
    this.logger.warn(
      { err: cause, tasks: entries.length },
      'The database cannot be written to at the moment; the journal tries again',
    );
    for (let pause = FIRST_RETRY_MS; ; pause = Math.min(pause * 2, LAST_RETRY_MS)) {
      await delay(pause);
      try {
        return await this.rewrite(entries);
      } catch (error) {
        if (!isOutage(error)) return this.writeOneByOne(entries, error);
      }
    }
  }

  /** The answer to the first try was lost, so some entries may be committed already: their logs reach as far as we wrote. */
  private async rewrite(entries: readonly JournalEntry[]): Promise<JournalOutcome[]> {
    const reached = await this.store.lastSequences(entries.map((entry) => entry.taskId));
    const missing = entries.filter((entry) => (reached.get(entry.taskId) ?? 0) <= entry.after);
    const outcomes = missing.length === 0 ? [] : await this.store.write(missing);
    const written = new Map(missing.map((entry, index) => [entry, outcomes[index]]));
    return Promise.all(
      entries.map(async (entry) => written.get(entry) ?? ((await this.isCommitted(entry)) ? 'written' : 'fenced')),
    );
  }

  /**
   * Whether the log holds these very events. Its length proves nothing: whoever took the Task over in the meantime may
   * have written just as much.
   */
  private async isCommitted({ taskId, after, events }: JournalEntry): Promise<boolean> {
    const stored = await this.store.events(taskId, after, events.length + 1);
    return stored.length === events.length && stored.every(({ json }, index) => json === events[index]?.json);
  }
}

type Outcome = JournalOutcome | { failed: unknown };
