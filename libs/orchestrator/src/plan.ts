import type { LoopRun } from './loop-run.js';
import type { NodeRun, SkipReason } from './node-run.js';
import type { Timer } from './timers.js';

/** How a run ends. */
export type EndingOutcome = 'completed' | 'failed' | 'canceled';

/** `input-required`: nothing can go on before a caller answers; `parked`: nothing before a time that is not near. */
export type RunOutcome = EndingOutcome | 'input-required' | 'parked';

/** What has to be found out, by an expression or by doing it, and told as an event before the run goes on. */
export type Decision =
  /** The list of a node that goes through one, and was started: `each.started`, or its failure. */
  | { kind: 'items'; node: NodeRun }
  /** The end of a node whose list is done: its completion or failure. */
  | { kind: 'list'; node: NodeRun }
  /** What the engine does itself: `set` and `wait` nodes that were started. */
  | { kind: 'own'; node: NodeRun }
  /** A loop whose newest iteration is over: `loop.next`, or `loop.ended` (the only one where `failed`). */
  | { kind: 'loop'; loop: LoopRun; failed: boolean }
  /** How the run ends, for the nodes of `onExit`: `run.ending`. */
  | { kind: 'ending'; outcome: EndingOutcome };

/** Skipped instances that are not reported yet. */
export interface Skips {
  because: SkipReason;
  instances: string[];
}

/** What a run does next, in this order; lists are as defined. */
export interface Plan {
  /** What is to be canceled now: nobody needs it any more. */
  stop: NodeRun[];
  /** What was skipped and is to be reported: `node.skipped`. */
  report: Skips[];
  decide: Decision[];
  /** The waiting nodes that the newest Message to the run answers. */
  answer: NodeRun[];
  /** What it is time for, without the starts that had to wait for it. */
  fire: Timer[];
  /** What is to be started now, for the first time or again. */
  start: NodeRun[];
  /** Present when nothing is under way, and nothing of the above is to be done. */
  outcome?: RunOutcome;
  /** When it is to be planned again though nothing has happened, in milliseconds of the epoch. */
  wakeAt?: number;
}
