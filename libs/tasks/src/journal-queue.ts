import { fairCut } from './fair-cut.js';
import type { JournalEntry, JournalOutcome } from './task-store.js';

/** An event that waits: its place among the events of all Tasks, in the order in which they were recorded. */
export interface WaitingEvent {
  mark: number;
  bytes: number;
}

/** A Task's events that wait to be written. The journal asks for them when a batch begins, not before. */
export interface JournalSource {
  /** Names the caller whose Task it is, who has a share of each batch. Tasks call for Tasks of the same account alone. */
  readonly account: string;
  /** What waits, in its order. */
  readonly waitingEvents: readonly WaitingEvent[];
  /** Everything that waits, or what does up to a mark, as one entry; `undefined` if nothing does. Once per batch. */
  drain(upTo?: number): JournalEntry | undefined;
  /** The entry that `drain` gave is durable, or fenced and lost. */
  settle(entry: JournalEntry, outcome: JournalOutcome | { failed: unknown }): void;
}

/**
 * The part of the limit that a batch of several callers has: whoever comes next waits for the two batches under way, and
 * a commit costs little beside its megabytes.
 */
const OF_SHARED = 1 / 8;

/** The events of all Tasks that wait for a batch. */
export class JournalQueue {
  private sources = new Set<JournalSource>();
  private lastMark = 0;
  private waiting = 0;

  /** Of what waits; also of what was given up since the last batch. */
  get bytes(): number {
    return this.waiting;
  }

  /** How many Tasks have something that waits. */
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

  /** @returns the event's mark */
  add(source: JournalSource, bytes: number): number {
    this.sources.add(source);
    this.waiting += bytes;
    return ++this.lastMark;
  }

  /**
   * Takes a batch: everything, unless that is more than `limit` bytes, or, where several callers wait, an eighth of them;
   * then an equal share of each account, of which what was recorded first. A batch that left out something earlier of an
   * account could make durable what came of it.
   */
  take(limit: number): Map<JournalSource, JournalEntry> {
    const most = this.waiting > limit * OF_SHARED && this.isShared ? limit * OF_SHARED : limit;
    const cut = this.waiting > most ? fairCut(this.sources, most) : undefined;
    const upTo = cut && cut.rest > 0 ? cut.upTo : undefined;
    const batch = new Map<JournalSource, JournalEntry>();
    const { sources } = this;
    // A new one: see PassingMap for what one and the same would keep.
    this.sources = new Set();
    for (const source of sources) {
      const entry = source.drain(upTo && (upTo.get(source.account) ?? 0));
      if (entry) batch.set(source, entry);
      if (source.waitingEvents.length > 0) this.sources.add(source);
    }
    this.waiting = cut?.rest ?? 0;
    return batch;
  }
}
