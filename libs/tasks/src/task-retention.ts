import { Injectable } from '@nestjs/common';

/** Deletes data that is older than a time and belongs to no Task; stops when the signal aborts. */
export type RetentionSweep = (olderThan: Date, signal: AbortSignal) => Promise<void>;

/** Rules of the purge of Tasks. The owners of tables register them at startup. */
@Injectable()
export class TaskRetention {
  private readonly deletions: string[] = [];
  private readonly exceptions: string[] = [];
  private readonly sweeps: RetentionSweep[] = [];

  /** Adds a statement that deletes data of Tasks, in the transaction that deletes them. `$1` is their ids, `text[]`. */
  purgeWith(statement: string): void {
    this.deletions.push(statement);
  }

  /**
   * Adds a query for the ids of expired Tasks that must stay. The relation `old` contains the candidates with
   * `task_id`, `tenant`, `owner`, `agent` and `context_id`.
   */
  keepWith(query: string): void {
    this.exceptions.push(query);
  }

  /** Adds a function that runs after every purge of Tasks. */
  sweepAfter(sweep: RetentionSweep): void {
    this.sweeps.push(sweep);
  }

  get statements(): readonly string[] {
    return this.deletions;
  }

  get kept(): readonly string[] {
    return this.exceptions;
  }

  async runSweeps(olderThan: Date, signal: AbortSignal): Promise<void> {
    for (const sweep of this.sweeps) await sweep(olderThan, signal);
  }
}
