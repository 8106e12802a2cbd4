/** Limits of what runs may use of one process at a time. Work beyond a limit waits. */
export interface WorkLimits {
  /** Maximum number of running nodes in one level of a run tree. */
  readonly levelNodes: number;
  /** Maximum number of running nodes of one caller, in all its run trees. */
  readonly callerNodes: number;
  /** Number of running nodes that a caller may always have, however many others run. */
  readonly callerShare: number;
  /** Maximum number of running nodes of all callers. */
  readonly processNodes: number;
  /** Maximum number of nodes that start in one turn of the event loop; fewer if turns take long. */
  readonly turnStarts: number;
  /** Evaluation steps per second of one caller, and the burst that it may use at once. */
  readonly callerSteps: number;
  /** Evaluation steps per second of all callers, and the burst that they may use at once. */
  readonly processSteps: number;
}

const LEVELS_OF_CALLER = 4;
const LEVELS_OF_PROCESS = 16;
const SHARES_OF_LEVEL = 8;
const TURN_STARTS = 16;
/** About a tenth of a second of one processor. */
const CALLER_STEPS = 1_000_000;

/**
 * Returns the limits of a process.
 * @param levelNodes maximum number of running nodes in one level of a run tree, from 1 (NODES_AT_WORK_LIMIT)
 */
export function workLimits(levelNodes: number): WorkLimits {
  return {
    levelNodes,
    callerNodes: LEVELS_OF_CALLER * levelNodes,
    callerShare: Math.ceil(levelNodes / SHARES_OF_LEVEL),
    processNodes: LEVELS_OF_PROCESS * levelNodes,
    turnStarts: TURN_STARTS,
    callerSteps: CALLER_STEPS,
    processSteps: 2 * CALLER_STEPS,
  };
}
