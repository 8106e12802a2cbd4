/** Limits of what runs may use of one process at a time. Work beyond a limit waits. */
export interface WorkLimits {
  /** Nodes at work in one level of a run tree. */
  readonly levelNodes: number;
  /** Nodes at work of one caller, in all its run trees. */
  readonly callerNodes: number;
  /** Nodes at work that a caller may have, however many others have. */
  readonly callerShare: number;
  /** Nodes at work of all callers. */
  readonly processNodes: number;
  /** Nodes that start in one turn of the event loop; fewer where turns take long. */
  readonly turnStarts: number;
  /** Evaluation steps a second of one run tree, and of one caller. As many may be used at once. */
  readonly callerSteps: number;
  /** Evaluation steps a second of all callers. As many may be used at once. */
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
 * @param levelNodes nodes at work in one level of a run tree, from 1 (NODES_AT_WORK_LIMIT)
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
