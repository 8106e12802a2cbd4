import { LAST_LOOK_MS } from '#libs/agent-calls';
import type { PlannedCall } from '#libs/process';
import type { NodeInstance } from './node-run.js';
import type { RunClock } from './run-clock.js';
import type { Timer } from './timers.js';

type CallLimit = Required<Pick<PlannedCall, 'limit' | 'onPause' | 'onRestart'>>;

/** Delay in milliseconds from which a call counts as late, as in a database outage. A late call restarts its timeout. */
const LATE_MS = 1_000;

/**
 * Times from which the timeouts of nodes' attempts count. They are not in the log.
 * - A call of an earlier execution may have been answered: the answer is looked up before the timeout counts.
 * - A call that could not leave, or whose answer waited for room, restarts its own timeout.
 */
export class CallTimes {
  /** Milliseconds since the epoch from which a node's timeout counts; `Infinity` while it is suspended. */
  private readonly countsFrom = new Map<NodeInstance, number>();

  /** @param pickedUp nodes whose calls an earlier execution has made, or was about to make */
  constructor(pickedUp: Iterable<NodeInstance>) {
    for (const node of pickedUp) this.holdTimeout(node);
  }

  /** Suspends the timeout: the call has not left yet, or its answer waits for room. */
  holdTimeout(node: NodeInstance): void {
    this.countsFrom.set(node, Infinity);
  }

  /**
   * Lets the timeout count as the log says, unless the call left late.
   * @param after delay of the call in milliseconds
   */
  releaseTimeout(node: NodeInstance, after = 0): void {
    if (after < LATE_MS) this.countsFrom.delete(node);
  }

  /** Returns the limit of a call in milliseconds. It pauses while the call waits, and restarts when the call leaves. */
  createCallLimit(node: NodeInstance, limit: number, clock: Pick<RunClock, 'now'>): CallLimit {
    return {
      limit,
      onPause: () => this.holdTimeout(node),
      onRestart: () => void this.countsFrom.set(node, clock.now() + limit),
    };
  }

  /** Delays the timeout while the answer to a call of an earlier execution is looked up. */
  delayTimeout(node: NodeInstance, now: number): void {
    this.countsFrom.set(node, now + LAST_LOOK_MS);
  }

  /** Returns the expired timers without the timeouts that do not count yet. */
  selectDueTimers(timers: readonly Timer[], now: number): Timer[] {
    return timers.filter(({ kind, node }) => kind !== 'timeout' || !node || (this.countsFrom.get(node) ?? 0) <= now);
  }

  /** Returns when the next delayed timeout counts, in milliseconds since the epoch; `undefined` if none has a time. */
  findNextTime(now: number): number | undefined {
    const next = Math.min(...[...this.countsFrom.values()].filter((from) => from > now));
    return Number.isFinite(next) ? next : undefined;
  }
}
