import type { LoopConfig } from './workflow.js';

/** Back-edge, and the nodes that it repeats. */
export interface Loop {
  /** Index of the edge in `edges`. */
  readonly index: number;
  /** Last node of an iteration, and first node of the next one. */
  readonly from: string;
  readonly to: string;
  readonly config: LoopConfig;
  /** Ids of the repeated nodes: all between `to` and `from`, and both. */
  readonly body: ReadonlySet<string>;
}
