import type { RecordedEvent } from './task-event.js';
import type { TaskHeader } from './task-store.js';

/** How far a reader has come: for each writer the position of its last commit that was read whole. */
export type CommitPosition = ReadonlyMap<string, bigint>;

/** An event as it was committed, with the Task that it belongs to as that stands now. */
export interface CommittedEvent extends RecordedEvent {
  readonly header: TaskHeader;
  /** Its place among the events of its commit, from 0; those that were purged since count. */
  readonly place: number;
}

/** Events of any Tasks that became durable together. */
export interface Commit {
  writer: string;
  position: bigint;
  committedAt: Date;
  /** Of its events in the log. */
  bytes: number;
  /** Of each Task in the order of its log. What was purged since is left out. */
  events: readonly CommittedEvent[];
}

/**
 * Everything that was recorded, of all Tasks, in an order that every reader sees alike and that misses nothing.
 *
 * A sequence or a clock would not do: transactions become visible in another order than they took their numbers in, and a
 * reader that has seen 7 would never look for the 6 that is committed a moment later. Here each writer (the journal of
 * one process) numbers its commits under a lock that it holds until they are visible, so one number per writer says what
 * a reader has seen. Commits of different writers are merged by time; those of one Task keep their order, since whoever
 * takes a Task over begins after the commit that it goes on from.
 */
export abstract class CommitLog {
  /** The position that everything committed until now lies before, and the database's time of it. */
  abstract position(): Promise<{ position: CommitPosition; at: Date }>;

  /**
   * At most about `limit` commits after a position, oldest first, with about a megabyte or a single one; none where there
   * are none.
   */
  abstract read(after: CommitPosition, limit: number): Promise<Commit[]>;

  /** Forgets commits made before a time; a position that is older must not be read from any more. */
  abstract forget(before: Date, signal: AbortSignal): Promise<void>;
}

/** How long commits are kept: for so long a reader may stay away and miss nothing. */
export const COMMITS_KEPT_MS = 48 * 60 * 60 * 1000;
