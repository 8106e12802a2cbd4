import type { Frontier } from './frontier.js';
import type { NodeRun } from './node-run.js';
import type { Plan, RunOutcome } from './plan.js';
import { answeredNodes } from './run-answer.js';
import type { RunState } from './run-state.js';
import type { Timer } from './timers.js';

/** A time that is not further away is waited for, and does not end the turn: in milliseconds. */
const SHORT_WAIT = 30_000;

/**
 * What a run does next. After a failure that nothing took care of nothing starts and what is under way stops, unless the
 * workflow says `continue`. Pure, and reads what folding has kept: it costs what it answers.
 * @param now in milliseconds of the epoch
 */
export function planNext(state: RunState, now: number): Plan {
  const { frontier } = state;
  if (frontier.ending) return planEnding(frontier, now);
  const wakeAt = frontier.timers.after(now);
  const common = { stop: frontier.unwanted, report: frontier.unreported };
  if (frontier.isStruck) return ended({ ...common, ...NOTHING }, 'failed', state);
  const plan = {
    ...common,
    ...timely(frontier, now),
    answer: answered(state),
    ...(wakeAt !== undefined && { wakeAt }),
  };
  if (frontier.isBusy) return plan;
  if (frontier.has('input-required')) return ended(plan, 'input-required', state);
  if (frontier.timers.due(now + SHORT_WAIT).some(({ kind }) => GOES_ON.has(kind))) return plan;
  if (frontier.timers.ofNodes > 0) return ended(plan, 'parked', state);
  return ended(plan, frontier.isFailing ? 'failed' : 'completed', state);
}

/** What is left to do when the outcome is known: the nodes of `onExit`, as long as they have time. None of them may ask. */
function planEnding(frontier: Frontier, now: number): Plan {
  const isOver = frontier.timers.due(now).some(({ kind }) => kind === 'exit');
  const report = frontier.unreported;
  if (isOver) return ended({ ...NOTHING, stop: frontier.active, report }, frontier.ending);
  const wakeAt = frontier.timers.after(now);
  const { fire, ...others } = timely(frontier, now);
  const unheard = frontier.waiting.map((node): Timer => ({ kind: 'question', at: now, node }));
  const common = { stop: [], report, answer: [], ...(wakeAt !== undefined && { wakeAt }) };
  const plan = { ...common, ...others, fire: [...fire, ...unheard] };
  return frontier.active.length > 0 || frontier.isBusy ? plan : ended(plan, frontier.ending);
}

/** What may start or has to be decided, and what it is time for. */
function timely(frontier: Frontier, now: number): Pick<Plan, 'decide' | 'fire' | 'start'> {
  const due = frontier.timers.due(now);
  const again = due.flatMap(({ kind, node }) => (STARTS.has(kind) && node ? [node] : []));
  return {
    decide: frontier.undecided,
    fire: due.filter(({ kind }) => !STARTS.has(kind)),
    start: frontier.startable(again),
  };
}

/** After which a node is started, and after which something else is done without anybody's answer. */
const STARTS: ReadonlySet<Timer['kind']> = new Set(['retry', 'loop']);
const GOES_ON: ReadonlySet<Timer['kind']> = new Set([...STARTS, 'wait']);
const NOTHING = { decide: [], answer: [], fire: [], start: [] };

/** The outcome, where nothing else is left; before a last one comes what wants to know it. */
function ended(plan: Plan, outcome: RunOutcome | undefined, state?: RunState): Plan {
  const { stop, report, decide, fire, start } = plan;
  if ([stop, report, decide, fire, start].some((list) => list.length > 0) || outcome === undefined) return plan;
  const isLast = outcome === 'completed' || outcome === 'failed';
  if (state && isLast && state.graph.exits.size > 0) return { ...plan, decide: [{ kind: 'ending', outcome }] };
  return { ...plan, outcome };
}

function answered({ received, undelivered, frontier }: RunState): NodeRun[] {
  if (received === undefined || !undelivered) return [];
  const waiting = frontier.waiting.filter((node) => !frontier.sets.withdrawn.has(node));
  return answeredNodes(received, waiting);
}

/**
 * Whether a cancel of the run has begun to stop its nodes. It goes on, also where the process that did so is gone and
 * nobody has been told of the wish again yet: a run whose nodes were canceled never completes.
 */
export function isBeingCanceled({ frontier }: RunState): boolean {
  return frontier.isBeingCanceled;
}
