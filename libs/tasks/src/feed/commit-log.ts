import type { RecordedEvent } from '../fold/task-event.js';
import type { TaskHeader } from '../store/task-store.js';

/**
 * Cursor of a reader of the commits of all Tasks: for each writer, the position of the last commit that was read
 * completely. (The cursor in the log of one Task is a `sequence`; a LogPlace also has a digest, by which the log is
 * verified.)
 */
export type CommitPosition = ReadonlyMap<string, bigint>;

/** Committed event, with its Task's header at the time of the read. */
export interface CommittedEvent extends RecordedEvent {
  readonly header: TaskHeader;
  /** Index of the event in its commit, from 0. Events of the commit that were purged later are counted too. */
  readonly place: number;
}

/** Events that became durable together in one database transaction. They may belong to different Tasks. */
export interface Commit {
  writer: string;
  position: bigint;
  committedAt: Date;
  /** Bytes of the commit's events in the log. */
  bytes: number;
  /** Events, in log order for each Task. Events that were purged since are missing. */
  events: readonly CommittedEvent[];
}

/**
 * Log of all commits of all Tasks, in an order that is the same for every reader and has no gaps.
 *
 * A sequence or a clock would not suffice. Transactions become visible in a different order than they took their
 * numbers, so a reader that has seen 7 would never look for a 6 that is committed a moment later. In this log each
 * writer (the journal of one process) numbers its commits and makes them visible in that order, so one number per
 * writer describes what a reader has seen. Commits of different writers are merged by time. This keeps the order of the
 * commits of one Task, too: a replica that adopts a Task commits to it only after the last commit of the former writer.
 */
export abstract class CommitLog {
  /** Returns the position of the newest commits, and the time of the database's clock at which it was read. */
  abstract readPosition(): Promise<{ position: CommitPosition; at: Date }>;

  /**
   * Returns at most `limit` commits after a position, oldest first: about a megabyte of events, or a single larger
   * commit. Empty if there are none.
   */
  abstract readCommits(after: CommitPosition, limit: number): Promise<Commit[]>;

  /** Deletes commits made before a time; stops when the signal aborts. Afterwards, do not read from older positions. */
  abstract forgetCommits(before: Date, signal: AbortSignal): Promise<void>;
}

/** Milliseconds that commits are kept. A reader may be away for that long without missing a commit. */
export const COMMITS_KEPT_MS = 48 * 60 * 60 * 1000;

/**
 * Application event: this process has committed events of Tasks. It is emitted once for each batch, and once for each
 * entry that was retried separately, after the followers of its Tasks were woken. It has no content: listeners read the
 * commit log, and also poll it. Use `@OnEvent` methods as listeners, so that their errors are logged and affect nothing
 * else.
 */
export const TASKS_COMMITTED = 'tasks.committed';
