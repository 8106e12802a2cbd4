import { setTimeout as delay } from 'node:timers/promises';
import type { AgentCallError } from './agent-call-error.js';
import { toAgentCallError } from './call-failure.js';

const MAX_RETRIES = 3;
const FIRST_PAUSE_MS = 100;

/**
 * Tries again after 5xx and time-outs, at most three times, after 100, 200 and 400 ms (row J4); nothing else is tried
 * again, and nothing after the signal has aborted.
 * @throws AgentCallError of the last attempt, or the signal's reason
 */
export async function retrying<T>(attempt: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let retries = 0; ; retries += 1) {
    signal.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      const failure = toAgentCallError(error);
      if (signal.aborted) throw signal.reason;
      if (retries === MAX_RETRIES || !failure.retryable) throw failure;
    }
    await pause(FIRST_PAUSE_MS * 2 ** retries, signal);
  }
}

/** @throws the signal's reason, which is an AgentCallError, as soon as it aborts */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(milliseconds, undefined, { signal });
  } catch {
    throw signal.reason as AgentCallError;
  }
}
