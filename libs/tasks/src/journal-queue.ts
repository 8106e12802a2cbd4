import { fairCut } from './fair-cut.js';
import type { JournalEntry, JournalOutcome } from './task-store.js';

/** Waiting event: its place among the events of all Tasks, in the order in which they were recorded. */
export interface WaitingEvent {
  mark: number;
  bytes: number;
}

/** Source of a Task's waiting events. The journal asks for them when a batch begins. */
export interface JournalSource {
  /** Account of the Task's caller, which has a share of each batch. A Task's children have the same account. */
  readonly account: string;
  /** Waiting events, in order. */
  readonly waitingEvents: readonly WaitingEvent[];
  /**
   * Returns the waiting events, all or up to a mark, as one entry; `undefined` if there are none. Called once per
   * batch.
   */
  drainEntry(upTo?: number): JournalEntry | undefined;
  /** Reports that the entry returned by `drainEntry` is durable, or fenced and lost. */
  settleEntry(entry: JournalEntry, outcome: JournalOutcome | { failed: unknown }): void;
}

/**
 * Share of the limit for a batch of several callers. A new caller waits for the two running batches, and a commit costs
 * little compared to its megabytes.
 */
const OF_SHARED = 1 / 8;

/** Events of all Tasks that wait for a batch. */
export class JournalQueue {
  private sources = new Set<JournalSource>();
  private lastMark = 0;
  private waiting = 0;

  /** Bytes of the waiting events, including those abandoned since the last batch. */
  get bytes(): number {
    return this.waiting;
  }

  /** Number of Tasks with waiting events. */
  get tasks(): number {
    return this.sources.size;
  }

  get isEmpty(): boolean {
    return this.sources.size === 0;
  }

  private get isShared(): boolean {
    let first: string | undefined;
    for (const { account } of this.sources) {
      first ??= account;
      if (account !== first) return true;
    }
    return false;
  }

  /** Adds an event. @returns its mark */
  add(source: JournalSource, bytes: number): number {
    this.sources.add(source);
    this.waiting += bytes;
    return ++this.lastMark;
  }

  /**
   * Takes a batch: everything, up to `limit` bytes, or an eighth of `limit` if several callers wait. Beyond that, each
   * account gets an equal share, oldest events first. A batch never skips an earlier event of an account, since a later
   * event may depend on it.
   */
  takeBatch(limit: number): Map<JournalSource, JournalEntry> {
    const most = this.waiting > limit * OF_SHARED && this.isShared ? limit * OF_SHARED : limit;
    const cut = this.waiting > most ? fairCut(this.sources, most) : undefined;
    const upTo = cut && cut.rest > 0 ? cut.upTo : undefined;
    const batch = new Map<JournalSource, JournalEntry>();
    const { sources } = this;
    // A new Set: see ShortLivedMap for what a reused one would retain.
    this.sources = new Set();
    for (const source of sources) {
      const entry = source.drainEntry(upTo && (upTo.get(source.account) ?? 0));
      if (entry) batch.set(source, entry);
      if (source.waitingEvents.length > 0) this.sources.add(source);
    }
    this.waiting = cut?.rest ?? 0;
    return batch;
  }
}
