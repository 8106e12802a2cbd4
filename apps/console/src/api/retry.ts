import { computeBackoff, pauseFor } from './backoff.js';
import { isTransient } from './problem.js';

/**
 * Runs `work`, and retries it with a backoff while the service is unreachable or not ready.
 * @returns the result of `work`, or `undefined` once the signal is aborted
 * @throws an error of `work` that a retry cannot fix
 */
export async function retryTransient<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  for (let failures = 1; !signal.aborted; failures += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isTransient(error)) throw error;
    }
    await pauseFor(computeBackoff(failures), signal);
  }
  return undefined;
}
