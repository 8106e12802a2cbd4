import { Heap } from './heap.js';
import type { NodeRun } from './node-run.js';

/**
 * What it is time for: another attempt (`retry`), the next iteration of a loop (`loop`, of the node that it begins with),
 * the end of a wait (`wait`), of the time that an attempt has (`timeout`), that a question may go unanswered
 * (`question`), that the run has (`deadline`), or that the nodes of `onExit` have (`exit`).
 */
export type TimerKind = 'retry' | 'loop' | 'wait' | 'timeout' | 'question' | 'deadline' | 'exit';

export interface Timer {
  readonly kind: TimerKind;
  /** In milliseconds of the epoch. */
  readonly at: number;
  /** Absent where it is the run's. */
  readonly node?: NodeRun;
}

/** What a run waits for the time of. */
export class Timers {
  private readonly heap = new Heap<Timer & { order: number }>(
    (one, other) => one.at < other.at || (one.at === other.at && one.order < other.order),
  );
  private readonly byOwner = new Map<NodeRun | undefined, (Timer & { order: number })[]>();
  private made = 0;

  /** When the next of them is. */
  get next(): number | undefined {
    return this.heap.first?.at;
  }

  /** How many nodes have one. */
  get ofNodes(): number {
    return this.byOwner.size - (this.byOwner.has(undefined) ? 1 : 0);
  }

  set(kind: TimerKind, at: number, node?: NodeRun): void {
    const timer = { kind, at, order: this.made++, ...(node && { node }) };
    this.byOwner.set(node, [...(this.byOwner.get(node) ?? []), timer]);
    this.heap.add(timer);
  }

  /** Those of a node, or of the run. */
  clear(node?: NodeRun): void {
    for (const timer of this.byOwner.get(node) ?? []) this.heap.delete(timer);
    this.byOwner.delete(node);
  }

  /** Those whose time has come, the earliest first. */
  due(now: number): Timer[] {
    return [...this.heap.least(({ at }) => at <= now)];
  }

  /** The first whose time has not come. */
  after(now: number): number | undefined {
    if (this.next === undefined || this.next > now) return this.next;
    for (const { at } of this.heap.least()) if (at > now) return at;
    return undefined;
  }
}
