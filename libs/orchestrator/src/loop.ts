import type { LoopConfig } from './workflow.js';

/** A back-edge, and what it repeats. */
export interface Loop {
  /** The edge's place in `edges`. */
  readonly index: number;
  /** The last node of an iteration, and the first of the next one. */
  readonly from: string;
  readonly to: string;
  readonly config: LoopConfig;
  /** What is repeated: all that lies between `to` and `from`, and both. */
  readonly body: ReadonlySet<string>;
}
