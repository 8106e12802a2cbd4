import type { RecordedEvent } from '../fold/task-event.js';
import type { TaskHeader } from '../store/task-store.js';

/** Position of a reader: for each writer the position of the last commit that was read completely. */
export type CommitPosition = ReadonlyMap<string, bigint>;

/** Committed event, with the current header of its Task. */
export interface CommittedEvent extends RecordedEvent {
  readonly header: TaskHeader;
  /** Index among the events of its commit, from 0. Events that were purged since count. */
  readonly place: number;
}

/** Events of any Tasks that became durable together. */
export interface Commit {
  writer: string;
  position: bigint;
  committedAt: Date;
  /** Bytes of the events in the log. */
  bytes: number;
  /** Events, in log order for each Task. Events that were purged since are missing. */
  events: readonly CommittedEvent[];
}

/**
 * Log of all commits of all Tasks, in an order that is the same for every reader and has no gaps.
 *
 * A sequence or a clock would not suffice: transactions become visible in a different order than they took their
 * numbers, so a reader that has seen 7 would never look for a 6 that is committed a moment later. Here each writer (the
 * journal of one process) numbers its commits and makes them visible in that order, so one number per writer describes
 * what a reader has seen. Commits of different writers are merged by time. Commits of one Task keep their order, since
 * a replica that adopts a Task starts after the commit that it resumes from.
 */
export abstract class CommitLog {
  /** Returns the position that everything committed so far lies before, and the database's time of it. */
  abstract readPosition(): Promise<{ position: CommitPosition; at: Date }>;

  /**
   * Returns about `limit` commits after a position at most, oldest first: about a megabyte, or a single commit. Empty
   * if there are none.
   */
  abstract readCommits(after: CommitPosition, limit: number): Promise<Commit[]>;

  /** Deletes commits made before a time. Older positions must not be read from afterwards. */
  abstract forgetCommits(before: Date, signal: AbortSignal): Promise<void>;
}

/** Milliseconds for which commits are kept. A reader may be away for that long without missing any. */
export const COMMITS_KEPT_MS = 48 * 60 * 60 * 1000;

/**
 * Event that this process has committed events of Tasks: emitted once per batch, after the readers of its Tasks were
 * woken. It has no content: listeners read the log, and also poll it. Use `@OnEvent` methods as listeners, so that
 * their errors are logged and affect nothing else.
 */
export const TASKS_COMMITTED = 'tasks.committed';
