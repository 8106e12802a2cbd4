import { Injectable } from '@nestjs/common';

/** Deletes what is older than a time and belongs to no Task; gives up when the signal aborts. */
export type RetentionSweep = (olderThan: Date, signal: AbortSignal) => Promise<void>;

/** What goes when the time of Tasks is over, as the owners of the tables say at the start. */
@Injectable()
export class TaskRetention {
  private readonly deletions: string[] = [];
  private readonly exceptions: string[] = [];
  private readonly sweeps: RetentionSweep[] = [];

  /** A statement that deletes what hangs on Tasks, in the transaction that deletes them. `$1` is their ids, `text[]`. */
  purgeWith(statement: string): void {
    this.deletions.push(statement);
  }

  /**
   * A query of the ids of Tasks that stay although their time is over. Those that would go are in the relation `old`, by
   * `task_id`, `tenant`, `owner`, `agent` and `context_id`.
   */
  keepWith(query: string): void {
    this.exceptions.push(query);
  }

  /** Something to do after every purge of Tasks. */
  sweepAfter(sweep: RetentionSweep): void {
    this.sweeps.push(sweep);
  }

  get statements(): readonly string[] {
    return this.deletions;
  }

  get kept(): readonly string[] {
    return this.exceptions;
  }

  async sweep(olderThan: Date, signal: AbortSignal): Promise<void> {
    for (const sweep of this.sweeps) await sweep(olderThan, signal);
  }
}
