import { setTimeout as delay } from 'node:timers/promises';

/**
 * Pauses between the attempts of an operation (exponential backoff). Each pause is twice as long as the previous one,
 * up to a limit.
 */
export class Backoff {
  /**
   * @param firstMs pause before the first retry, in milliseconds
   * @param longestMs limit of the pauses, in milliseconds
   * @param jitter maximum part of a pause that chance subtracts, from 0 to 1, so that retries of many callers spread
   */
  constructor(
    private readonly firstMs: number,
    private readonly longestMs = Infinity,
    private readonly jitter = 0,
  ) {}

  /**
   * Returns the milliseconds before a retry.
   * @param retries number of retries before it
   * @param chance from 0, the full pause, to 1, the shortest one
   */
  pauseAfter(retries: number, chance = Math.random()): number {
    return Math.min(this.firstMs * 2 ** retries, this.longestMs) * (1 - this.jitter * chance);
  }

  /**
   * Retries an operation until it succeeds, or fails with an error for which `isPassing` is false.
   * @param isPassing true if the operation is retried after this error and a pause of `pauseMs`
   * @throws the signal's reason once it is aborted; else the first error for which `isPassing` is false
   */
  async retryWhile<T>(
    operation: () => Promise<T>,
    isPassing: (error: unknown, pauseMs: number) => boolean,
    signal?: AbortSignal,
  ): Promise<T> {
    for (let retries = 0; ; retries += 1) {
      const pause = this.pauseAfter(retries);
      try {
        return await operation();
      } catch (error) {
        signal?.throwIfAborted();
        if (!isPassing(error, pause)) throw error;
      }
      await delay(pause, undefined, { signal }).catch(() => signal?.throwIfAborted());
    }
  }
}

/** Resolves once a signal aborts. */
export async function whenAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}

/**
 * Awaits work unless a signal aborts first. The work itself continues; its later failure is ignored.
 * @throws the signal's reason; the error of the work
 */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const rejectWait = (): void => reject(signal.reason);
  signal.addEventListener('abort', rejectWait);
  if (signal.aborted) rejectWait();
  return Promise.race([aborted, work]).finally(() => signal.removeEventListener('abort', rejectWait));
}

/**
 * Awaits work for a limited time, without keeping the process alive. The work itself continues; its later failure is
 * ignored.
 * @returns the result; `undefined` after the time
 */
export async function withinTime<T>(work: Promise<T>, milliseconds: number): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(resolve, milliseconds, undefined).unref();
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
