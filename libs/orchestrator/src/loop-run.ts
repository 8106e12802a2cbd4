import type { Loop } from './loop.js';

/** Reason for the end of a loop: its `exit_when` held, it reached its `max_iterations`, or an iteration failed. */
export type LoopReason = 'exit_when' | 'max' | 'failure';

/** Execution of a loop, from its first iteration to its last. */
export interface LoopRun {
  readonly loop: Loop;
  /** Iterations of the enclosing loops, outermost first. */
  readonly path: readonly number[];
  /** Number of the newest iteration, from 1; 0 until the loop is reached. */
  iteration: number;
  /** Reason for the end; absent while the loop runs. */
  reason?: LoopReason;
}
