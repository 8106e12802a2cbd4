import { setTimeout as delay } from 'node:timers/promises';
import type { StreamResponse } from '#libs/protocol';
import { Backoff } from '#libs/service';
import type { AgentCallError } from './agent-call-error.js';
import { type CallAttempt, type CallDeadlines, formatSeconds, LONGEST_TIMER } from './call-deadlines.js';
import { toAgentCallError } from './call-failure.js';

const MAX_RETRIES = 3;
const BACKOFF = new Backoff(100);
/** Pauses after refused connections: short, so that a restarted agent is found soon. */
const REFUSAL_BACKOFF = new Backoff(100, 1_000);

type Open = (attempt: CallAttempt) => AsyncIterable<StreamResponse>;

/**
 * Runs an exchange (a request and its answer) that may be repeated, and returns its only answer. The exchange is
 * retried after HTTP 5xx, time-outs, refused connections and a 429 (rate limit); `retryCall` has the limits.
 * @param ask makes the exchange, once for each attempt
 * @param refused time in milliseconds that the exchange is retried while connections are refused
 */
export function exchangeOnce<T>(
  limits: CallDeadlines,
  ask: (attempt: CallAttempt) => Promise<T>,
  refused = 0,
): Promise<T> {
  const runAttempt = async (): Promise<T> => {
    const attempt = limits.beginAttempt();
    try {
      return await attempt.awaitArrival(ask(attempt));
    } finally {
      attempt.endAttempt();
    }
  };
  return retryCall(runAttempt, limits, { refused, rateLimited: true });
}

/**
 * Runs an exchange and yields its stream of answers. Until the first answer has arrived, the exchange is retried after
 * HTTP 5xx, time-outs and refused connections, but not after a 429 (rate limit); `retryCall` has the limits.
 * @param open opens the stream, once for each attempt
 * @param refused time in milliseconds that the exchange is retried while connections are refused
 * @param retries maximum number of retries after HTTP 5xx and time-outs
 */
export async function* exchangeStream(
  limits: CallDeadlines,
  open: Open,
  refused = 0,
  retries = MAX_RETRIES,
): AsyncIterable<StreamResponse> {
  const { attempt, events, first } = await retryCall(() => beginExchange(limits, open), limits, { refused, retries });
  try {
    for (let next = first; !next.done; next = await attempt.awaitArrival(events.next())) yield next.value;
  } catch (error) {
    attempt.endAttempt();
    throw error;
  } finally {
    // The transport does not wait for an event here, so it closes the connection itself, or reads a short rest.
    attempt.leaveAttempt();
    events.return?.()?.catch(() => undefined);
  }
}

async function beginExchange(limits: CallDeadlines, open: Open) {
  const attempt = limits.beginAttempt();
  try {
    const events = open(attempt)[Symbol.asyncIterator]();
    return { attempt, events, first: await attempt.awaitArrival(events.next()) };
  } catch (error) {
    attempt.endAttempt();
    throw error;
  }
}

interface RetryRule {
  /** Maximum milliseconds of retries while connections are refused. Such attempts have sent nothing. */
  refused: number;
  retries?: number;
  /** True to retry after a 429 (rate limit). */
  rateLimited?: boolean;
}

/**
 * Runs attempts of a call by this retry rule.
 *
 * - HTTP 5xx and time-outs are retried at most `retries` times, by default three, after 100, 200 and 400 ms.
 * - A 429 is retried, if `rateLimited` is true, after the pause that the agent asks for; it counts as one of the
 *   retries.
 * - Attempts whose connections are refused are retried for the time `refused`.
 * - Other failures are not retried. Once the call is over, no failure is retried.
 *
 * @throws AgentCallError of the last attempt, or the reason why the call is over; the error is `unsent` if no attempt
 *   reached the agent
 */
async function retryCall<T>(
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
        limits.onRepeat?.(
          `${failure.message}; attempt ${refusals + 1} failed, further ones follow for ${formatSeconds(refused)}`,
        );
        await refusalPause(refusals, limits, final);
        refusals += 1;
        continue;
      }
      limits.throwIfOver();
      const passes = failure.repeatable || (rateLimited && failure.rateLimited);
      if (retries === maxRetries || !passes) throw failure;
      asked = Math.max(BACKOFF.pauseAfter(retries), pauseAfter(failure));
      limits.onRepeat?.(
        `${failure.message}; attempt ${retries + 1} of ${maxRetries + 1} failed, the next one follows within ${formatSeconds(Math.ceil(asked / 1_000) * 1_000)}`,
      );
    }
    await waitWithinCall(asked, limits);
    retries += 1;
  }
}

/**
 * Waits after a refused connection, longer after each refusal.
 * @param refusals number of refused connections so far
 * @throws the given failure as soon as the call is over, since it is more informative than the reason why the call is
 *   over
 */
async function refusalPause(refusals: number, limits: CallDeadlines, failure: AgentCallError): Promise<void> {
  if (failure.unsent) limits.onUnsent?.(failure);
  await waitWithinCall(REFUSAL_BACKOFF.pauseAfter(refusals), limits).catch(() => {
    throw failure;
  });
  limits.onUnsent?.(undefined);
}

/**
 * Returns the pause in milliseconds that a rate-limiting agent asks for, at most the longest timer; 0 if it asks for
 * none.
 */
export function pauseAfter(failure: AgentCallError): number {
  return failure.rateLimited ? Math.min(failure.retryAfter ?? 0, LONGEST_TIMER) : 0;
}

/** Waits for a time. @throws AgentCallError as soon as the call is over */
export async function waitWithinCall(milliseconds: number, limits: CallDeadlines): Promise<void> {
  try {
    await delay(milliseconds, undefined, { signal: limits.signal });
  } catch (error) {
    limits.throwIfOver();
    throw error;
  }
}
