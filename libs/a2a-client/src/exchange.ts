import { setTimeout as delay } from 'node:timers/promises';
import type { StreamResponse } from '#libs/protocol';
import type { AgentCallError } from './agent-call-error.js';
import { toAgentCallError } from './call-failure.js';
import type { CallAttempt, CallDeadlines } from './call-deadlines.js';
import { LONGEST_TIMER } from './stoppable-timer.js';

const MAX_RETRIES = 3;
const FIRST_PAUSE_MS = 100;
/** An agent that starts again is found about this soon after it listens. */
const LONGEST_REFUSAL_PAUSE_MS = 1_000;

type Open = (attempt: CallAttempt) => AsyncIterable<StreamResponse>;

/**
 * One exchange with a single answer that changes nothing however often it is asked for: tried again by the retry rule,
 * and where the agent asks to be called less often.
 * @param refused how long it is tried again where nobody listens, in milliseconds
 */
export function once<T>(limits: CallDeadlines, ask: (attempt: CallAttempt) => Promise<T>, refused = 0): Promise<T> {
  const attempted = async (): Promise<T> => {
    const attempt = limits.attempt();
    try {
      return await attempt.next(ask(attempt));
    } finally {
      attempt.end();
    }
  };
  return retrying(attempted, limits, { refused, rateLimited: true });
}

/** One exchange with a stream of answers, tried again by the retry rule until its first event is there. */
export async function* exchange(
  limits: CallDeadlines,
  open: Open,
  refused = 0,
  retries = MAX_RETRIES,
): AsyncIterable<StreamResponse> {
  const { attempt, events, first } = await retrying(() => begin(limits, open), limits, { refused, retries });
  try {
    for (let next = first; !next.done; next = await attempt.next(events.next())) yield next.value;
  } finally {
    attempt.end();
    events.return?.()?.catch(() => undefined);
  }
}

async function begin(limits: CallDeadlines, open: Open) {
  const attempt = limits.attempt();
  try {
    const events = open(attempt)[Symbol.asyncIterator]();
    return { attempt, events, first: await attempt.next(events.next()) };
  } catch (error) {
    attempt.end();
    throw error;
  }
}

interface RetryRule {
  /** For how many milliseconds it is tried again where nobody listened, so that nothing was sent. */
  refused: number;
  retries?: number;
  /** Whether it is tried again after a 429. */
  rateLimited?: boolean;
}

/**
 * Tries again after 5xx and time-outs, at most three times unless said otherwise, after 100, 200 and 400 ms; after a 429,
 * where that is the rule, when the agent asks for it; and where nobody listened. Nothing else is tried again, and nothing
 * after the call is over.
 * @throws AgentCallError of the last attempt, or why the call is over; `unsent` where no attempt reached anybody
 */
async function retrying<T>(
  attempt: () => Promise<T>,
  limits: CallDeadlines,
  { refused, retries: maxRetries = MAX_RETRIES, rateLimited = false }: RetryRule,
): Promise<T> {
  const refusedUntil = performance.now() + refused;
  for (let retries = 0, refusals = 0; ;) {
    let asked = 0;
    limits.throwIfOver();
    try {
      return await attempt();
    } catch (error) {
      const failure = toAgentCallError(error);
      if (failure.unsent) {
        const final = retries === 0 ? failure : failure.withDoubt();
        if (performance.now() >= refusedUntil) throw final;
        await refusalPause(refusals, limits, final);
        refusals += 1;
        continue;
      }
      limits.throwIfOver();
      const passes = failure.retryable || (rateLimited && failure.rateLimited);
      if (retries === maxRetries || !passes) throw failure;
      asked = pauseAfter(failure);
    }
    await pause(Math.max(FIRST_PAUSE_MS * 2 ** retries, asked), limits);
    retries += 1;
  }
}

/** @throws the failure as soon as the call is over: it says more than that */
async function refusalPause(refusals: number, limits: CallDeadlines, failure: AgentCallError): Promise<void> {
  const milliseconds = Math.min(FIRST_PAUSE_MS * 2 ** refusals, LONGEST_REFUSAL_PAUSE_MS);
  if (failure.unsent) limits.onUnsent?.(failure);
  await pause(milliseconds, limits).catch(() => {
    throw failure;
  });
  limits.onUnsent?.(undefined);
}

/** How many milliseconds an agent that is called too often asks for, as far as a timer can hold them; else 0. */
export function pauseAfter(failure: AgentCallError): number {
  return failure.rateLimited ? Math.min(failure.retryAfter ?? 0, LONGEST_TIMER) : 0;
}

/** @throws AgentCallError as soon as the call is over */
export async function pause(milliseconds: number, limits: CallDeadlines): Promise<void> {
  try {
    await delay(milliseconds, undefined, { signal: limits.signal });
  } catch (error) {
    limits.throwIfOver();
    throw error;
  }
}
