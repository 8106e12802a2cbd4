import type { NodeRun } from './node-run.js';
import type { Plan, RunOutcome } from './plan.js';
import { answeredNodes } from './run-answer.js';
import type { RunState } from './run-state.js';
import type { Timer } from './timers.js';

/** A wait that is not longer is waited for, and does not end the turn: in milliseconds. */
const SHORT_WAIT = 30_000;

/**
 * What a run does next. After a failure that nothing took care of nothing starts and what is under way stops, unless the
 * workflow says `continue`. Pure, and reads what folding has kept: it costs what it answers.
 * @param now in milliseconds of the epoch
 */
export function planNext(state: RunState, now: number): Plan {
  const { frontier } = state;
  const stop = frontier.unwanted;
  const report = frontier.unreported;
  const wakeAt = frontier.timers.after(now);
  const common = { stop, report, ...(wakeAt !== undefined && { wakeAt }) };
  if (frontier.isStruck) return ended({ ...common, ...NOTHING }, 'failed');
  const due = frontier.timers.due(now);
  const plan = {
    ...common,
    decide: frontier.undecided,
    answer: answered(state),
    fire: due.filter(({ kind }) => !STARTS.has(kind)),
    start: [...due.flatMap(({ kind, node }) => (STARTS.has(kind) && node ? [node] : [])), ...frontier.ready],
  };
  if (frontier.isBusy) return plan;
  if (wakeAt !== undefined && wakeAt - now <= SHORT_WAIT) return plan;
  if (frontier.has('input-required')) return ended(plan, 'input-required');
  if (wakeAt !== undefined) return ended(plan, 'parked');
  return ended(plan, frontier.has('failed') ? 'failed' : 'completed');
}

const STARTS: ReadonlySet<Timer['kind']> = new Set(['retry', 'loop']);
const NOTHING = { decide: [], answer: [], fire: [], start: [] };

/** The outcome, where nothing else is left. */
function ended(plan: Plan, outcome: RunOutcome): Plan {
  const { stop, report, decide, fire, start } = plan;
  return [stop, report, decide, fire, start].some((list) => list.length > 0) ? plan : { ...plan, outcome };
}

function answered({ received, undelivered, frontier }: RunState): NodeRun[] {
  if (received === undefined || !undelivered) return [];
  const { waiting } = frontier;
  const named = new Set(
    answeredNodes(
      received,
      waiting.map(({ id }) => id),
    ),
  );
  return waiting.filter(({ id }) => named.has(id));
}

/**
 * Whether a cancel of the run has begun to stop its nodes. It goes on, also where the process that did so is gone and
 * nobody has been told of the wish again yet: a run whose nodes were canceled never completes.
 */
export function isBeingCanceled({ frontier }: RunState): boolean {
  return frontier.has('canceled') && !frontier.isStruck;
}
