import { setTimeout as delay } from 'node:timers/promises';
import { toAgentCallError } from './call-failure.js';
import type { CallLimits } from './call-limits.js';

const MAX_RETRIES = 3;
const FIRST_PAUSE_MS = 100;

/**
 * Tries again after 5xx and time-outs, at most three times, after 100, 200 and 400 ms (row J4); nothing else is tried
 * again, and nothing after the call is over.
 * @throws AgentCallError of the last attempt, or why the call is over
 */
export async function retrying<T>(attempt: () => Promise<T>, limits: CallLimits): Promise<T> {
  for (let retries = 0; ; retries += 1) {
    limits.throwIfOver();
    try {
      return await attempt();
    } catch (error) {
      const failure = toAgentCallError(error);
      limits.throwIfOver();
      if (retries === MAX_RETRIES || !failure.retryable) throw failure;
    }
    await pause(FIRST_PAUSE_MS * 2 ** retries, limits);
  }
}

/** @throws AgentCallError as soon as the call is over */
export async function pause(milliseconds: number, limits: CallLimits): Promise<void> {
  try {
    await delay(milliseconds, undefined, { signal: limits.signal });
  } catch (error) {
    limits.throwIfOver();
    throw error;
  }
}
