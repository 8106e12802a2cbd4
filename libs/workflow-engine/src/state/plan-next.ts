import type { Frontier, Plan, RunOutcome } from './frontier.js';
import type { NodeInstance } from './node-instance.js';
import { answeredNodes } from './run-questions.js';
import type { RunState } from './run-state.js';
import type { Timer } from './timers.js';

/**
 * Longest wait during which the run stays in its process, in milliseconds. For a longer wait the turn ends and the
 * process releases the run (`parked`).
 */
const SHORT_WAIT = 30_000;

/**
 * Plans the next steps of a run. After an unhandled failure no node starts and running nodes are canceled, unless the
 * workflow has `onFailure: "continue"`. The function is pure: it reads only the state that follows from the log. Its
 * cost is proportional to the plan.
 * @param now current time in epoch milliseconds
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
  if (frontier.timers.listDue(now + SHORT_WAIT).some(({ kind }) => CONTINUING_TIMERS.has(kind))) return plan;
  if (frontier.timers.ofNodes > 0) return planOutcome(plan, 'parked', state);
  return planOutcome(plan, frontier.isFailing ? 'failed' : 'completed', state);
}

/**
 * Plans the `onExit` nodes after the outcome of the run is known, within their time limit. If such a node asks a
 * question, the plan contains a timer for the question that is due at once: an `onExit` node may not ask, and fails.
 * @param now current time in epoch milliseconds
 */
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

/** Kinds of timers after which a node or an iteration starts. */
const STARTS: ReadonlySet<Timer['kind']> = new Set(['retry', 'loop']);
/** Kinds of timers after which a run continues without an answer to its questions. */
const CONTINUING_TIMERS: ReadonlySet<Timer['kind']> = new Set([...STARTS, 'wait']);
const NOTHING = { decide: [], answer: [], fire: [], start: [] };

/**
 * Sets the outcome of a plan that has nothing else left to do. If the workflow has `onExit` nodes, the plan gets the
 * decision `ending` instead of `completed` or `failed`: the `onExit` nodes run first.
 */
function planOutcome(plan: Plan, outcome: RunOutcome | undefined, state?: RunState): Plan {
  const { stop, report, decide, fire, start } = plan;
  if ([stop, report, decide, fire, start].some((list) => list.length > 0) || outcome === undefined) return plan;
  const isLast = outcome === 'completed' || outcome === 'failed';
  const hasExits = state !== undefined && state.graph.exits.size > 0;
  if (isLast && hasExits) return { ...plan, decide: [{ kind: 'ending', outcome }] };
  return { ...plan, outcome };
}

function findAnswered({ received, undelivered, frontier }: RunState): NodeInstance[] {
  if (received === undefined || !undelivered) return [];
  const waiting = frontier.waiting.filter((node) => !frontier.sets.withdrawn.has(node));
  return answeredNodes(received, waiting);
}

/**
 * True if a cancel of the run has begun to cancel its nodes. Such a run never completes: the cancel resumes after a
 * crash, even before it is requested again.
 */
export function isBeingCanceled({ frontier }: RunState): boolean {
  return frontier.isBeingCanceled;
}
