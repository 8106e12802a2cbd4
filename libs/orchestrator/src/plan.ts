import type { LoopRun } from './loop-run.js';
import type { NodeInstance, SkipReason } from './node-run.js';
import type { Timer } from './timers.js';

/** Final outcome of a run. */
export type EndingOutcome = 'completed' | 'failed' | 'canceled';

/** `input-required`: the run waits for an answer; `parked`: the run waits for a time that is not near. */
export type RunOutcome = EndingOutcome | 'input-required' | 'parked';

/** A decision that an expression or the engine makes. It is recorded as an event before the run continues. */
export type Decision =
  /** List of a started node with `each`: `each.started`, or its failure. */
  | { kind: 'items'; node: NodeInstance }
  /** End of a node whose list is done: its completion or failure. */
  | { kind: 'list'; node: NodeInstance }
  /** Execution of a started `set` or `wait` node by the engine. */
  | { kind: 'own'; node: NodeInstance }
  /** Next step of a loop whose newest iteration is over: `loop.next`, or `loop.ended` (always if `failed`). */
  | { kind: 'loop'; loop: LoopRun; failed: boolean }
  /** Outcome of the run, which the `onExit` nodes need: `run.ending`. */
  | { kind: 'ending'; outcome: EndingOutcome };

/** Skipped instances that are not reported yet. */
export interface Skips {
  because: SkipReason;
  instances: string[];
}

/** Next steps of a run, in the order of the members; lists are in the order of the definition. */
export interface Plan {
  /** Nodes to cancel now, because their results are not needed anymore. */
  stop: NodeInstance[];
  /** Skipped instances to report: `node.skipped`. */
  report: Skips[];
  decide: Decision[];
  /** Waiting nodes that the newest Message to the run answers. */
  answer: NodeInstance[];
  /** Due timers, except those that start a node. */
  fire: Timer[];
  /** Nodes to start now, for the first time or again. */
  start: NodeInstance[];
  /** Present if nothing is running and none of the steps above is left. */
  outcome?: RunOutcome;
  /** Time of the next plan without an event, in milliseconds of the epoch. */
  wakeAt?: number;
}
