import type { Frontier } from './frontier.js';
import type { NodeInstance } from './node-run.js';
import type { Plan, RunOutcome } from './plan.js';
import { answeredNodes } from './run-answer.js';
import type { RunState } from './run-state.js';
import type { Timer } from './timers.js';

/** Longest wait that does not end the turn, in milliseconds. */
const SHORT_WAIT = 30_000;

/**
 * Plans the next steps of a run. After an unhandled failure nothing starts and running nodes stop, unless the workflow
 * says `continue`. Pure; it reads only folded state and costs what it returns.
 * @param now in milliseconds of the epoch
 */
export function planNext(state: RunState, now: number): Plan {
  const { frontier } = state;
  if (frontier.ending) return planEnding(frontier, now);
  const wakeAt = frontier.timers.nextAfter(now);
  const common = { stop: frontier.nodesToCancel, report: frontier.unreportedSkips };
  if (frontier.isFailingFast) return planOutcome({ ...common, ...NOTHING }, 'failed', state);
  const plan = {
    ...common,
    ...planDueWork(frontier, now),
    answer: findAnswered(state),
    ...(wakeAt !== undefined && { wakeAt }),
  };
  if (frontier.isBusy) return plan;
  if (frontier.hasNodeWithStatus('input-required')) return planOutcome(plan, 'input-required', state);
  if (frontier.timers.listDue(now + SHORT_WAIT).some(({ kind }) => GOES_ON.has(kind))) return plan;
  if (frontier.timers.ofNodes > 0) return planOutcome(plan, 'parked', state);
  return planOutcome(plan, frontier.isFailing ? 'failed' : 'completed', state);
}

/** Plans the `onExit` nodes after the outcome is known, within their time limit. They cannot ask questions. */
function planEnding(frontier: Frontier, now: number): Plan {
  const isOver = frontier.timers.listDue(now).some(({ kind }) => kind === 'exit');
  const report = frontier.unreportedSkips;
  if (isOver) return planOutcome({ ...NOTHING, stop: frontier.active, report }, frontier.ending);
  const wakeAt = frontier.timers.nextAfter(now);
  const { fire, ...others } = planDueWork(frontier, now);
  const unheard = frontier.waiting.map((node): Timer => ({ kind: 'question', at: now, node }));
  const common = { stop: [], report, answer: [], ...(wakeAt !== undefined && { wakeAt }) };
  const plan = { ...common, ...others, fire: [...fire, ...unheard] };
  return frontier.active.length > 0 || frontier.isBusy ? plan : planOutcome(plan, frontier.ending);
}

/** Returns pending decisions, due timers and nodes to start. */
function planDueWork(frontier: Frontier, now: number): Pick<Plan, 'decide' | 'fire' | 'start'> {
  const due = frontier.timers.listDue(now);
  const again = due.flatMap(({ kind, node }) => (STARTS.has(kind) && node ? [node] : []));
  return {
    decide: frontier.pendingDecisions,
    fire: due.filter(({ kind }) => !STARTS.has(kind)),
    start: frontier.selectNodesToStart(again),
  };
}

/** Timers after which a node starts, and timers after which a run continues without an answer. */
const STARTS: ReadonlySet<Timer['kind']> = new Set(['retry', 'loop']);
const GOES_ON: ReadonlySet<Timer['kind']> = new Set([...STARTS, 'wait']);
const NOTHING = { decide: [], answer: [], fire: [], start: [] };

/** Sets the outcome once nothing is left to do; `onExit` nodes run before a final outcome. */
function planOutcome(plan: Plan, outcome: RunOutcome | undefined, state?: RunState): Plan {
  const { stop, report, decide, fire, start } = plan;
  if ([stop, report, decide, fire, start].some((list) => list.length > 0) || outcome === undefined) return plan;
  const isLast = outcome === 'completed' || outcome === 'failed';
  if (state && isLast && state.graph.exits.size > 0) return { ...plan, decide: [{ kind: 'ending', outcome }] };
  return { ...plan, outcome };
}

function findAnswered({ received, undelivered, frontier }: RunState): NodeInstance[] {
  if (received === undefined || !undelivered) return [];
  const waiting = frontier.waiting.filter((node) => !frontier.sets.withdrawn.has(node));
  return answeredNodes(received, waiting);
}

/**
 * True if a cancel of the run has begun to stop its nodes. Such a run never completes: the cancel resumes even after a
 * crash, before it is requested again.
 */
export function isBeingCanceled({ frontier }: RunState): boolean {
  return frontier.isBeingCanceled;
}
