import type { RequestContext } from '#libs/agents';
import type { LimitRequest } from '#libs/limits';
import { retryWhileUnreachable } from '#libs/postgres';
import type { ConcurrencyConfig } from '#libs/workflow-definition';
import { FailedExpression } from '../messages/run-expressions.js';
import type { RunEvaluation } from '../messages/run-evaluation.js';
import type { RunState } from '../state/run-state.js';
import type { RunServices, SlotRequest } from './run-services.js';

/** Reason why a run does not begin: the outcome of the run, and its text. */
export interface RunRefusal {
  outcome: 'failed' | 'canceled';
  reason: string;
}

interface SlotTaker {
  context: RequestContext;
  state: RunState;
  evaluation: RunEvaluation;
  services: Pick<RunServices, 'slots' | 'clock'>;
}

/** True if a run may need slots at `now` (milliseconds of the epoch): it has neither begun nor passed its deadline. */
export function needsSlot({ instances, error, frontier }: RunState, now: number): boolean {
  if (error !== undefined || (frontier.timers.next ?? Infinity) <= now) return false;
  for (const { status } of instances.values()) if (status !== 'pending') return false;
  return true;
}

/**
 * Takes the slots for a run: that of its workflow (see `concurrency` of a definition), then those of the limits of the
 * service. A run that has to wait is parked: it holds no claim, timer or memory, and resumes in any replica when it has
 * its slot. Only the runs that come next wait in memory.
 * @returns the reason why the run must not begin; `undefined` if it has its slots, or its deadline has passed
 * @throws ExecutionInterrupted if the run is parked, or another replica has it
 */
export async function takeSlots(taker: SlotTaker, signal: AbortSignal): Promise<RunRefusal | undefined> {
  const { context, state, evaluation, services } = taker;
  const { concurrency, name: workflow } = state.definition;
  const limits = await services.slots.findLimits(context, workflow, signal);
  if (concurrency === undefined && limits.length === 0) return undefined;
  const key = concurrency === undefined ? '' : readKey(evaluation);
  if (typeof key !== 'string') return { outcome: 'failed', reason: key.message };
  await context.flush();
  if (concurrency !== undefined) {
    const outcome = await waitForOutcome(taker, { workflow, key, concurrency }, signal);
    if (outcome === 'full') return { outcome: 'canceled', reason: describeFull(concurrency) };
    if (outcome === 'crowded') return { outcome: 'failed', reason: CROWDED };
  }
  for (const limit of limits) {
    const outcome = await waitForOutcome(taker, { limit }, signal);
    if (outcome === 'crowded')
      return { outcome: 'failed', reason: `Too many runs wait for the limit "${limit.name}".` };
  }
  return undefined;
}

/** Requests a slot until the run has it, may not wait for it, or has passed its deadline. */
async function waitForOutcome(
  { context, state, services }: SlotTaker,
  wanted: SlotRequest | LimitRequest,
  signal: AbortSignal,
): Promise<'held' | 'full' | 'crowded'> {
  const { next } = state.frontier.timers;
  const request = { ...wanted, ...(next !== undefined && { until: new Date(next) }) };
  for (;;) {
    const outcome = await retryWhileUnreachable(() => services.slots.requestSlot(context, request), signal);
    if (outcome === 'held' || outcome === 'full' || outcome === 'crowded') return outcome;
    if (outcome === 'parked') context.leaveTask?.();
    if (outcome === 'next') await services.slots.waitForSlot(context, request.until, signal);
    signal.throwIfAborted();
    if (next !== undefined && next <= services.clock.now()) return 'held';
    // Any other request has checked the claim.
    if (outcome === 'lost') await context.assertClaimHeld();
  }
}

const CROWDED = 'Too many runs of this workflow wait already (concurrency).';

function describeFull({ limit, key }: ConcurrencyConfig): string {
  const runs = limit === 1 ? '1 run of this workflow is' : `${limit} runs of this workflow are`;
  return `Skipped: ${runs} under way${key === undefined ? '' : ' for this key'} (concurrency).`;
}

function readKey(evaluation: RunEvaluation): string | FailedExpression {
  try {
    return evaluation.evaluateConcurrencyKey();
  } catch (error) {
    if (error instanceof FailedExpression) return error;
    throw error;
  }
}
