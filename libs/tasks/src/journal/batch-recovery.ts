import type { Logger } from '@nestjs/common';
import { setTimeout as delay } from 'node:timers/promises';
import { classifyWriteFailure, mayBeCommitted, mayBreakSession } from '#libs/postgres';
import { Backoff } from '#libs/service';
import type { JournalEntry, TaskStore } from '../store/task-store.js';
import {
  DividedWrite,
  NothingWritable,
  RepeatedWrite,
  type SetAsideEntries,
  type WriteOutcome,
} from './failed-entries.js';

/**
 * Outcome of an entry of a batch. An entry that is set aside (retried separately) has `later`: it resolves with the
 * outcome of the entry, possibly long after the other entries of the batch have their outcomes.
 */
export type BatchOutcome = WriteOutcome | { later: Promise<WriteOutcome> };

const BACKOFF = new Backoff(50, 2_000);
/**
 * Number of failed attempts to write a whole batch, after which the batch is divided if the database accepts other
 * writes.
 */
const MOST_TRIES_TOGETHER = 2;
/**
 * Maximum number of attempts to write a single entry alone. If the session breaks at each attempt, the entry counts as
 * the cause and fails.
 */
const MOST_TRIES_ALONE = 3;
/**
 * Maximum number of consecutive failed statements in the first round of dividing a batch. Each further round allows
 * four times as many.
 */
const MOST_IN_A_ROW = 32;

/** Error of an event whose every write breaks the session, while the database accepts other writes. */
class EventNotWritable extends Error {
  override readonly name = 'EventNotWritable';

  constructor(cause: unknown) {
    super('The connection to the database breaks where this event is written', { cause });
  }
}

/**
 * Retries a failed batch until the outcome of each entry is known, or the entry is set aside (retried separately).
 * - While the server takes no writes, the batch waits.
 * - A batch is divided after rejected content, and after a second failure for an unknown reason while the server takes
 *   other writes.
 * - An entry with rejected content fails, and so does an entry that breaks the session of every statement that writes
 *   it.
 * - An entry that fails on its own for any other reason is set aside. Its outcome is reported later than the outcomes
 *   of the other entries.
 */
export class BatchRecovery {
  private readonly outcomes = new Map<JournalEntry, BatchOutcome>();
  private readonly repeated: RepeatedWrite;
  private readonly setAside: { taskIds: string[]; cause: unknown } = { taskIds: [], cause: undefined };
  private waits = 0;
  private rounds = 0;

  /**
   * @param cause the error of the batch; absent if there was none and its entries were fenced (rejected for lack of a
   *   claim)
   */
  constructor(
    private readonly store: TaskStore,
    private readonly logger: Logger,
    private readonly aside: SetAsideEntries,
    private readonly entries: readonly JournalEntry[],
    private readonly cause?: unknown,
  ) {
    const recordOutcome = (entry: JournalEntry, outcome: WriteOutcome): void => void this.outcomes.set(entry, outcome);
    this.repeated = new RepeatedWrite(store, recordOutcome, cause !== undefined && mayBeCommitted(cause));
  }

  /** Resolves with the outcomes of the entries, in their order. Never rejects. */
  async recoverBatch(): Promise<BatchOutcome[]> {
    const cause = this.cause ?? (await this.tryTogether());
    if (cause !== undefined) await this.writeAgain(cause);
    this.reportSetAside();
    return this.entries.map((entry) => this.outcomes.get(entry) ?? 'fenced');
  }

  private get rest(): JournalEntry[] {
    return this.entries.filter((entry) => !this.outcomes.has(entry));
  }

  private async writeAgain(cause: unknown): Promise<void> {
    if (classifyWriteFailure(cause) !== 'refused') this.reportFailure(cause);
    let [failure, failures] = [cause as unknown, 1];
    for (;;) {
      if (isOfBatch(failure, failures)) {
        failure = await this.divideBatch(failure);
        if (failure === undefined) return;
        failures = 0;
      }
      await this.waitForServer();
      const again = await this.tryTogether();
      if (again === undefined) return;
      if (!(again instanceof NothingWritable)) failures += 1;
      failure = again;
    }
  }

  /**
   * Writes all entries whose outcome is unknown with one statement.
   * @returns the error because of which outcomes stay unknown; `undefined` if all outcomes are known
   */
  private async tryTogether(): Promise<unknown> {
    try {
      await this.tryWrite(this.rest);
      return undefined;
    } catch (error) {
      return error;
    }
  }

  private async tryWrite(entries: readonly JournalEntry[]): Promise<void> {
    const ready: JournalEntry[] = [];
    for (const entry of entries) {
      if (this.outcomes.has(entry)) continue;
      if (this.aside.isBlocked(entry)) this.addAside(entry);
      else ready.push(entry);
    }
    if (ready.length > 0) await this.repeated.writeRepeated(ready);
  }

  /**
   * Writes the entries whose outcome is unknown in ever smaller parts.
   * @returns the error because of which outcomes stay unknown; `undefined` if all outcomes are known
   */
  private async divideBatch(cause: unknown): Promise<unknown> {
    const divided = new DividedWrite(
      (entries) => this.tryWrite(entries),
      (entry, error) => this.failAlone(entry, error),
      MOST_IN_A_ROW * 4 ** this.rounds++,
    );
    try {
      await divided.writeDivided(this.rest, cause);
      return undefined;
    } catch (error) {
      return error;
    }
  }

  private async failAlone(entry: JournalEntry, cause: unknown): Promise<void> {
    if (classifyWriteFailure(cause) === 'refused') this.failEntry(entry, cause);
    else if (mayBreakSession(cause)) await this.tryAlone(entry, cause);
    else this.setAsideFor(entry, cause);
  }

  private async tryAlone(entry: JournalEntry, cause: unknown): Promise<void> {
    let failure = cause;
    for (let tries = 0; tries < MOST_TRIES_ALONE;) {
      await this.waitForServer();
      try {
        return await this.tryWrite([entry]);
      } catch (error) {
        if (error instanceof NothingWritable) continue;
        if (!mayBreakSession(error)) return this.failAlone(entry, error);
        failure = error;
        tries += 1;
      }
    }
    this.failEntry(entry, new EventNotWritable(failure));
  }

  private failEntry(entry: JournalEntry, cause: unknown): void {
    this.logger.error({ err: cause, taskId: entry.taskId }, 'A task event could not be written');
    this.outcomes.set(entry, { failed: cause });
  }

  private setAsideFor(entry: JournalEntry, cause: unknown): void {
    this.setAside.taskIds.push(entry.taskId);
    this.setAside.cause ??= cause;
    this.addAside(entry);
  }

  private addAside(entry: JournalEntry): void {
    this.outcomes.set(entry, { later: this.aside.add(entry) });
  }

  /** Waits until the server takes writes; polls with growing pauses. */
  private async waitForServer(): Promise<void> {
    do {
      await delay(BACKOFF.pauseAfter(this.waits++));
    } while (!(await this.takesWrites()));
  }

  private takesWrites(): Promise<boolean> {
    return this.store.probeWrite().then(
      () => true,
      () => false,
    );
  }

  private reportFailure(cause: unknown): void {
    this.logger.warn(
      { err: cause, tasks: this.entries.length },
      'The database cannot be written at the moment; the journal tries again',
    );
  }

  private reportSetAside(): void {
    const { taskIds, cause } = this.setAside;
    if (taskIds.length === 0) return;
    this.logger.warn(
      { err: cause, tasks: taskIds.length, taskIds: taskIds.slice(0, 10) },
      'Events of some tasks cannot be written while others can; they are set aside and tried again',
    );
  }
}

/**
 * True if the batch itself causes the failure: its content was rejected, or it failed repeatedly (`failures`) although
 * the server accepts other writes.
 */
function isOfBatch(failure: unknown, failures: number): boolean {
  if (failure instanceof NothingWritable) return false;
  const kind = classifyWriteFailure(failure);
  return kind === 'refused' || (kind === 'unknown' && failures >= MOST_TRIES_TOGETHER);
}
