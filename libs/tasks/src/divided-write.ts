import { groupByFamily } from './journal-families.js';
import type { JournalEntry } from './task-store.js';

/**
 * Settles all given entries with one statement.
 * @throws NothingWritable if the server takes no writes at all; otherwise the error of the statement
 */
export type TryWrite = (entries: readonly JournalEntry[]) => Promise<void>;

/**
 * Error when the server takes no writes at the moment, or too many parts of a batch failed in a row. Unsettled entries
 * wait.
 */
export class NothingWritable extends Error {
  override readonly name = 'NothingWritable';

  constructor(cause: unknown) {
    super('No part of the batch can be written', { cause });
  }
}

/**
 * Writes a failed batch in ever smaller parts, in order, until every entry is settled or has failed on its own. One bad
 * entry among `n` costs about `2 log n` statements.
 */
export class DividedWrite {
  private failedInARow = 0;

  /**
   * @param failAlone settles an entry that failed on its own
   * @param mostInARow number of statements that may fail in a row before giving up
   */
  constructor(
    private readonly tryWrite: TryWrite,
    private readonly failAlone: (entry: JournalEntry, cause: unknown) => Promise<void>,
    private readonly mostInARow: number,
  ) {}

  /**
   * @param cause the error with which all of them failed together
   * @throws NothingWritable if the server takes no writes, or too many statements failed in a row
   */
  async writeDivided(entries: readonly JournalEntry[], cause: unknown): Promise<void> {
    await this.divideFamilies(groupByFamily(entries), cause);
  }

  private async divideFamilies(families: readonly (readonly JournalEntry[])[], cause: unknown): Promise<void> {
    const [first] = families;
    if (families.length > 1) {
      const middle = families.length >> 1;
      await this.writePart(families.slice(0, middle));
      await this.writePart(families.slice(middle));
    } else if (first && first.length > 1) {
      for (const entry of first) await this.writePart([[entry]]);
    } else if (first) await this.failAlone(first[0]!, cause);
  }

  private async writePart(families: readonly (readonly JournalEntry[])[]): Promise<void> {
    try {
      await this.tryWrite(families.flat());
      this.failedInARow = 0;
    } catch (error) {
      if (error instanceof NothingWritable) throw error;
      this.failedInARow += 1;
      if (this.failedInARow > this.mostInARow) throw new NothingWritable(error);
      await this.divideFamilies(families, error);
    }
  }
}
