import { LAST_LOOK_MS } from '#libs/agent-calls';
import type { NodeRun } from './node-run.js';
import type { Timer } from './timers.js';

/**
 * Calls that an earlier execution of a run has made. Their time may be over when this one comes to them, and the answer be
 * there all the same: it is looked for before that counts.
 */
export class PickedUpCalls {
  /** In milliseconds of the epoch. */
  private readonly heardBy: Map<NodeRun, number>;

  constructor(nodes: Iterable<NodeRun>) {
    this.heardBy = new Map([...nodes].map((node) => [node, Infinity]));
  }

  /** Its agent is asked now. */
  follow(node: NodeRun, now: number): void {
    if (this.heardBy.has(node)) this.heardBy.set(node, now + LAST_LOOK_MS);
  }

  /** The node is called anew. */
  forget(node: NodeRun): void {
    this.heardBy.delete(node);
  }

  /** Those of the times that are over which count. */
  due(timers: readonly Timer[], now: number): Timer[] {
    return timers.filter(({ kind, node }) => kind !== 'timeout' || !node || (this.heardBy.get(node) ?? 0) <= now);
  }

  /** When the next of them counts. */
  next(now: number): number | undefined {
    const next = Math.min(...[...this.heardBy.values()].filter((by) => by > now));
    return Number.isFinite(next) ? next : undefined;
  }
}
