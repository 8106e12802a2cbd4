import { LAST_LOOK_MS } from '#libs/agent-calls';
import type { PlannedCall } from '#libs/process';
import type { NodeRun } from './node-run.js';
import type { RunClock } from './run-clock.js';
import type { Timer } from './timers.js';

type CallLimit = Required<Pick<PlannedCall, 'limit' | 'onPause' | 'onRestart'>>;

/** A call that is kept back longer leaves late, as while the database is away; its time counts from then on. */
const LATE_MS = 1_000;

/**
 * From when on it counts that the time of a node's attempt is over, which the log alone does not know. A call that an earlier
 * execution has made may have an answer, which is looked for before. One that could not leave has not had its time at all:
 * it has it when it leaves, which the call itself sees to; so it does where an answer had to wait for room.
 */
export class CallTimes {
  /** In milliseconds of the epoch. */
  private readonly countsFrom = new Map<NodeRun, number>();

  /** @param pickedUp whose calls an earlier execution has made, or was about to make */
  constructor(pickedUp: Iterable<NodeRun>) {
    for (const node of pickedUp) this.hold(node);
  }

  /** A call is to be made and has not left, or its answer waits for room. */
  hold(node: NodeRun): void {
    this.countsFrom.set(node, Infinity);
  }

  /** It left, or never had to. */
  left(node: NodeRun, after = 0): void {
    if (after < LATE_MS) this.countsFrom.delete(node);
  }

  /** Returns the limit of a call, in milliseconds: it stops while the call waits, and restarts where none was made before. */
  limitOf(node: NodeRun, limit: number, clock: Pick<RunClock, 'now'>): CallLimit {
    return {
      limit,
      onPause: () => this.hold(node),
      onRestart: () => void this.countsFrom.set(node, clock.now() + limit),
    };
  }

  /** The answer to the call of an earlier execution is looked for. */
  look(node: NodeRun, now: number): void {
    this.countsFrom.set(node, now + LAST_LOOK_MS);
  }

  /** Those of the times that are over which count. */
  due(timers: readonly Timer[], now: number): Timer[] {
    return timers.filter(({ kind, node }) => kind !== 'timeout' || !node || (this.countsFrom.get(node) ?? 0) <= now);
  }

  /** When the next of the others do. */
  next(now: number): number | undefined {
    const next = Math.min(...[...this.countsFrom.values()].filter((from) => from > now));
    return Number.isFinite(next) ? next : undefined;
  }
}
