import { Injectable } from '@nestjs/common';

/**
 * Function that deletes data which is older than `olderThan` and belongs to no Task. It stops when the signal aborts.
 */
export type RetentionSweep = (olderThan: Date, signal: AbortSignal) => Promise<void>;

/**
 * Rules of the purge of Tasks: which other data is deleted together with a Task, and which expired Tasks stay.
 * Libraries that store such data register their rules at startup.
 */
@Injectable()
export class TaskRetention {
  private readonly deletions: string[] = [];
  private readonly exceptions: string[] = [];
  private readonly sweeps: RetentionSweep[] = [];

  /**
   * Registers a SQL statement that deletes data of Tasks. It runs in the transaction that deletes the Tasks. Its
   * parameter `$1` is the ids of these Tasks (`text[]`).
   */
  purgeWith(statement: string): void {
    this.deletions.push(statement);
  }

  /**
   * Registers a SQL query that returns the ids of expired Tasks that must not be deleted. It may read the relation
   * `old`, which contains the candidates with `task_id`, `tenant`, `owner`, `agent` and `context_id`.
   */
  keepWith(query: string): void {
    this.exceptions.push(query);
  }

  /** Registers a function that runs after every purge of Tasks. */
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
