import type { Loop } from './loop.js';

/** Why a loop has ended: its `exit_when` held, it reached its `max_iterations`, or an iteration failed. */
export type LoopReason = 'exit_when' | 'max' | 'failure';

/** One run of a loop, from its first iteration to its last. */
export interface LoopRun {
  readonly loop: Loop;
  /** The iterations of the loops around it, outermost first. */
  readonly path: readonly number[];
  /** The newest one; they count from 1, and it is 0 until the loop is reached. */
  iteration: number;
  /** Absent while it goes on. */
  reason?: LoopReason;
}
