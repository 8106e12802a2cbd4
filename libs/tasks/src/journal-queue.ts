import type { JournalEntry, JournalOutcome } from './task-store.js';

/** An event that waits: its place among the events of all Tasks, in the order in which they were recorded. */
export interface WaitingEvent {
  mark: number;
  bytes: number;
}

/** A Task's events that wait to be written. The journal asks for them when a batch begins, not before. */
export interface JournalSource {
  /** What waits, in its order. */
  readonly waitingEvents: readonly WaitingEvent[];
  /** Everything that waits, or what does up to a mark, as one entry; `undefined` if nothing does. Once per batch. */
  drain(upTo?: number): JournalEntry | undefined;
  /** The entry that `drain` gave is durable, or fenced and lost. */
  settle(entry: JournalEntry, outcome: JournalOutcome | { failed: unknown }): void;
}

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

  /** @returns the event's mark */
  add(source: JournalSource, bytes: number): number {
    this.sources.add(source);
    this.waiting += bytes;
    return ++this.lastMark;
  }

  /**
   * Takes a batch: everything, unless that is more than `limit` bytes; then what was recorded first, over all Tasks. One
   * that left out something else could make durable what came of it.
   */
  take(limit: number): Map<JournalSource, JournalEntry> {
    const upTo = this.waiting > limit ? this.lastThatFits(limit) : undefined;
    const batch = new Map<JournalSource, JournalEntry>();
    const { sources } = this;
    // A new one: see PassingMap for what one and the same would keep.
    this.sources = new Set();
    for (const source of sources) {
      const entry = source.drain(upTo);
      if (entry) batch.set(source, entry);
      if (source.waitingEvents.length > 0) this.sources.add(source);
    }
    if (upTo === undefined) this.waiting = 0;
    return batch;
  }

  /** The mark up to which there are at most so many bytes, at least one event; afterwards only the rest is counted. */
  private lastThatFits(limit: number): number | undefined {
    const first = this.firstMark();
    // By mark: sorted without being compared, however much waits.
    const bytesOf = new Float64Array(this.lastMark - first + 1);
    let sum = 0;
    for (const { waitingEvents } of this.sources) {
      for (const { mark, bytes } of waitingEvents) {
        bytesOf[mark - first] = bytes;
        sum += bytes;
      }
    }
    let [taken, last] = [0, first];
    for (let index = 0; index < bytesOf.length; index++) {
      const bytes = bytesOf[index]!;
      if (taken > 0 && taken + bytes > limit) break;
      taken += bytes;
      last = first + index;
    }
    this.waiting = sum - taken;
    return this.waiting === 0 ? undefined : last;
  }

  private firstMark(): number {
    let first = this.lastMark;
    for (const { waitingEvents } of this.sources) first = Math.min(first, waitingEvents[0]?.mark ?? first);
    return first;
  }
}
