import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '@nestjs/common';
import { isOutage, sqlState } from '#libs/postgres';
import { ClaimLost } from './claim-lost.js';
import type { RecordedEvent } from './task-event.js';
import type { JournalEntry, JournalOutcome, TaskStore } from './task-store.js';

export type WriteOutcome = JournalOutcome | { failed: unknown };

/** What came of a batch, and whether it needed more than one try. */
interface Written {
  outcomes: WriteOutcome[];
  troubled: boolean;
}

const FIRST_RETRY_MS = 50;
const LAST_RETRY_MS = 2000;
/** A batch that fails so often, right after the database took another write, is written one by one. */
const MOST_TRIES_TOGETHER = 2;
/** An entry that fails so often on its own, likewise, is what breaks the connection. */
const MOST_TRIES_ALONE = 3;

/** The database is there, and breaks off whatever writes this event: to wait for it would be of no use. */
class EventNotWritable extends Error {
  override readonly name = 'EventNotWritable';

  constructor(cause: unknown) {
    super('The connection to the database breaks where this event is written', { cause });
  }
}

/**
 * Writes batches, whatever it takes. A batch that could not be written is written again: as long as the database is
 * away, for ever; where it is not, with every entry on its own, so that an entry that cannot be written fails alone.
 */
export class JournalWriter {
  /** Batches that are being written again. */
  private inTrouble = 0;
  /** Resolves when the newest batch is on its way to the store for the first time. */
  private sent = Promise.resolve();
  /** Errors of writes: what is looked up goes other ways than what is written, and fails for its own reasons. */
  private readonly ofWrites = new WeakSet<object>();

  constructor(
    private readonly store: TaskStore,
    private readonly logger: Logger,
  ) {}

  /**
   * Never rejects.
   * @param before the batch before this one: resolves when it was settled, with whether it needed more than one try
   */
  async write(entries: readonly JournalEntry[], before: Promise<boolean>): Promise<Written> {
    const { promise, resolve: sent } = Promise.withResolvers<void>();
    const inTurn = this.sent;
    this.sent = promise;
    // What came first is first also now: it is still being tried again, or waits for what is.
    if (this.inTrouble > 0) await before;
    await inTurn;
    // Who waits for its turn goes on after the call below, whatever comes of that.
    sent();
    try {
      const outcomes = await this.store.write(entries);
      const troubled = await before;
      return troubled ? await this.rewriteFenced(entries, outcomes) : { outcomes, troubled };
    } catch (error) {
      return { outcomes: await this.writeAgain(entries, before, error), troubled: true };
    }
  }

  private async writeAgain(
    entries: readonly JournalEntry[],
    before: Promise<boolean>,
    cause: unknown,
  ): Promise<WriteOutcome[]> {
    this.inTrouble += 1;
    try {
      await before;
      return await (isOutage(cause)
        ? this.writeAfterOutage(entries, cause)
        : this.writeOneByOne(entries, false, cause));
    } finally {
      this.inTrouble -= 1;
    }
  }

  /** The batch before was not written when these came: what they go on from may be there now. The next one waits. */
  private async rewriteFenced(entries: readonly JournalEntry[], outcomes: readonly WriteOutcome[]): Promise<Written> {
    const fenced = entries.filter((_entry, index) => outcomes[index] === 'fenced');
    if (fenced.length === 0) return { outcomes: [...outcomes], troubled: false };
    this.inTrouble += 1;
    try {
      const rewritten = await this.writeOneByOne(fenced, false);
      const all = outcomes.map((outcome) => (outcome === 'fenced' ? rewritten.shift()! : outcome));
      return { outcomes: all, troubled: true };
    } finally {
      this.inTrouble -= 1;
    }
  }

  /**
   * Some entry made the statement fail; on its own it fails alone. Here the order is kept within each Task only.
   * @param again whether the answer to an earlier try was lost: what that committed is not to be written twice
   */
  private async writeOneByOne(
    entries: readonly JournalEntry[],
    again: boolean,
    cause?: unknown,
  ): Promise<WriteOutcome[]> {
    if (entries.length === 1 && cause !== undefined) return [this.refused(entries[0]!, cause)];
    const outcomes: WriteOutcome[] = [];
    for (const entry of entries) outcomes.push(await this.writeAlone(entry, again));
    return outcomes;
  }

  private async writeAlone(entry: JournalEntry, again: boolean): Promise<WriteOutcome> {
    try {
      const outcomes = again ? await this.rewrite([entry]) : await this.store.write([entry]);
      return outcomes[0] ?? 'fenced';
    } catch (error) {
      if (!isOutage(error)) return this.refused(entry, error);
      return (await this.writeAfterOutage([entry], error))[0] ?? 'fenced';
    }
  }

  private refused(entry: JournalEntry, cause: unknown): WriteOutcome {
    this.logger.error({ err: cause, taskId: entry.taskId }, 'A task event could not be written');
    return { failed: cause };
  }

  /**
   * Tries again until the batch is written. A try counts against the batch only where it broke the connection over which
   * the database had just taken another write, or what runs behind it; not where the server only reads, is out of
   * resources, ends, or cancels what runs.
   */
  private async writeAfterOutage(entries: readonly JournalEntry[], cause: unknown): Promise<WriteOutcome[]> {
    this.logger.warn(
      { err: cause, tasks: entries.length },
      'The database cannot be written to at the moment; the journal tries again',
    );
    let [pause, failures] = [FIRST_RETRY_MS, 1];
    for (;;) {
      await delay(pause);
      pause = Math.min(pause * 2, LAST_RETRY_MS);
      if (!(await this.takesWrites())) continue;
      try {
        return await this.rewrite(entries);
      } catch (error) {
        if (!isOutage(error)) return this.writeOneByOne(entries, true, error);
        if (!this.ofWrites.has(error as object) || !brokeTheServer(error)) continue;
        failures += 1;
        if (entries.length > 1 && failures === MOST_TRIES_TOGETHER) return this.writeOneByOne(entries, true);
        if (entries.length === 1 && failures > MOST_TRIES_ALONE)
          return [this.refused(entries[0]!, new EventNotWritable(error))];
      }
    }
  }

  private async takesWrites(): Promise<boolean> {
    return this.store.probe().then(
      () => true,
      () => false,
    );
  }

  /**
   * The answer to the first try was lost, so some entries may be committed already: their logs hold what we wrote. Or it
   * is under way still, at a server that has not noticed the broken connection: then this try waits for it, and is fenced
   * by what is our own.
   */
  private async rewrite(entries: readonly JournalEntry[]): Promise<WriteOutcome[]> {
    const known = new Map<JournalEntry, WriteOutcome | undefined>();
    for (const entry of entries) known.set(entry, await this.look(entry));
    const missing = entries.filter((entry) => known.get(entry) === undefined);
    const outcomes = missing.length === 0 ? [] : await this.writeMissing(missing);
    for (const [index, entry] of missing.entries()) {
      known.set(entry, outcomes[index] === 'written' ? 'written' : await this.look(entry));
    }
    return entries.map((entry) => known.get(entry) ?? 'fenced');
  }

  /** What the log says of an entry; `undefined` where it ends before it. */
  private async look(entry: JournalEntry): Promise<WriteOutcome | undefined> {
    const stored = await this.store.recorded(entry.taskId, entry.after, entry.events.length + 1);
    if (stored.length === 0) return undefined;
    if (isCommitted(entry, stored)) return 'written';
    // Nobody else makes a Task of that id: it was made, and whoever took it over went on.
    return entry.create ? { failed: new ClaimLost(`Task ${entry.taskId} is written elsewhere`) } : 'fenced';
  }

  private async writeMissing(missing: readonly JournalEntry[]): Promise<JournalOutcome[]> {
    try {
      return await this.store.write(missing);
    } catch (error) {
      if (error instanceof Error) this.ofWrites.add(error);
      throw error;
    }
  }
}

/**
 * Whether the log holds these very events. Its length proves nothing: whoever took the Task over in the meantime may
 * have written just as much.
 */
function isCommitted({ events }: JournalEntry, stored: readonly RecordedEvent[]): boolean {
  return stored.length === events.length && stored.every(({ json }, index) => json === events[index]?.json);
}

/**
 * Whether it may be the batch that makes the server fail: what no server said at all, what class 08 (connection) says and
 * an internal error. Everything else that passes tells of the server alone, whatever is written.
 */
function brokeTheServer(error: unknown): boolean {
  const state = sqlState(error);
  return state === undefined || state.startsWith('08') || state === 'XX000';
}
