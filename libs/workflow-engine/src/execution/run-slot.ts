import type { RequestContext } from '#libs/agents';
import { retryWhileUnreachable } from '#libs/postgres';
import type { ConcurrencyConfig } from '#libs/workflow-definition';
import { FailedExpression } from '../messages/run-expressions.js';
import type { RunEvaluation } from '../messages/run-evaluation.js';
import type { RunState } from '../state/run-state.js';
import type { RunServices } from './run-services.js';

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

/**
 * Takes a slot for a run (see `concurrency` of a definition). A run that has to wait is parked: it holds no claim, timer
 * or memory, and resumes in any replica when it has a slot. Only the runs that come next wait in memory.
 * @returns the reason why the run must not begin; `undefined` if it has a slot, or its deadline has passed
 * @throws ExecutionInterrupted if the run is parked, or another replica has it
 */
export async function takeSlot(
  { context, state, evaluation, services }: SlotTaker,
  signal: AbortSignal,
): Promise<RunRefusal | undefined> {
  const { concurrency, name: workflow } = state.definition;
  if (concurrency === undefined) return undefined;
  const key = readKey(evaluation);
  if (typeof key !== 'string') return { outcome: 'failed', reason: key.message };
  const { next } = state.frontier.timers;
  const request = { workflow, key, concurrency, ...(next !== undefined && { until: new Date(next) }) };
  await context.flush();
  for (;;) {
    const outcome = await retryWhileUnreachable(() => services.slots.requestSlot(context, request), signal);
    if (outcome === 'held') return undefined;
    if (outcome === 'parked') context.leaveTask?.();
    if (outcome === 'full') return { outcome: 'canceled', reason: describeFull(concurrency) };
    if (outcome === 'crowded') return { outcome: 'failed', reason: CROWDED };
    if (outcome === 'next') await services.slots.waitForSlot(context, request.until, signal);
    signal.throwIfAborted();
    if (next !== undefined && next <= services.clock.now()) return undefined;
    await context.assertClaimHeld();
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
