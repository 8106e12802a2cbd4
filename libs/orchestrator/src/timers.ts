import { Heap } from './heap.js';
import type { NodeInstance } from './node-run.js';

/**
 * Reason of a timer: another attempt (`retry`), the next iteration of a loop (`loop`, for its first node), the end of a
 * wait (`wait`), the timeout of an attempt (`timeout`), the deadline of a question (`question`), the deadline of the
 * run (`deadline`), or the time limit of the `onExit` nodes (`exit`).
 */
export type TimerKind = 'retry' | 'loop' | 'wait' | 'timeout' | 'question' | 'deadline' | 'exit';

export interface Timer {
  readonly kind: TimerKind;
  /** Time in milliseconds of the epoch. */
  readonly at: number;
  /** Node of the timer; absent for a timer of the run. */
  readonly node?: NodeInstance;
}

/** The timers of a run. */
export class Timers {
  private readonly heap = new Heap<Timer & { order: number }>(
    (one, other) => one.at < other.at || (one.at === other.at && one.order < other.order),
  );
  private readonly byOwner = new Map<NodeInstance | undefined, (Timer & { order: number })[]>();
  private made = 0;

  /** Time of the earliest timer. */
  get next(): number | undefined {
    return this.heap.first?.at;
  }

  /** Number of nodes that have a timer. */
  get ofNodes(): number {
    return this.byOwner.size - (this.byOwner.has(undefined) ? 1 : 0);
  }

  set(kind: TimerKind, at: number, node?: NodeInstance): void {
    const timer = { kind, at, order: this.made++, ...(node && { node }) };
    this.byOwner.set(node, [...(this.byOwner.get(node) ?? []), timer]);
    this.heap.add(timer);
  }

  /** Removes the timers of a node, or those of the run. */
  clear(node?: NodeInstance): void {
    for (const timer of this.byOwner.get(node) ?? []) this.heap.delete(timer);
    this.byOwner.delete(node);
  }

  /** Returns the timers that are due, earliest first. */
  listDue(now: number): Timer[] {
    return [...this.heap.iterateInOrder(({ at }) => at <= now)];
  }

  /** Returns the time of the first timer that is not due yet. */
  nextAfter(now: number): number | undefined {
    if (this.next === undefined || this.next > now) return this.next;
    for (const { at } of this.heap.iterateInOrder()) if (at > now) return at;
    return undefined;
  }
}
