import { setTimeout as delay } from 'node:timers/promises';

/**
 * Default time limit of waits. It is below that of a test (jest.config.mjs), so that the failure names the awaited
 * condition.
 */
export const SAFETY_NET_MS = 180_000;

export interface Deadline {
  /** Milliseconds after which the wait fails; default three minutes. It is a safety net, and no test asserts it. */
  within?: number;
  /** Description of the awaited condition, for the failure. A function may include the last value. */
  what?: string | (() => string);
}

/**
 * Polls until the probe returns a value that is neither `undefined` nor `false`. Throws when the time limit passes. The
 * pauses grow, since the awaited work needs the processor.
 */
export async function until<T>(
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  deadline: Deadline = {},
): Promise<T> {
  const { within = SAFETY_NET_MS, what = 'a condition' } = deadline;
  const begun = performance.now();
  for (;;) {
    const value = await probe();
    if (value !== undefined && value !== false) return value;
    const waited = performance.now() - begun;
    if (waited > within) throw lateError(within, what);
    await delay(Math.min(15 + waited / 5, 250));
  }
}

/** Awaits a promise. Throws if the time limit passes first. */
export async function before<T>(promise: Promise<T>, deadline: Deadline = {}): Promise<T> {
  const { within = SAFETY_NET_MS, what = 'a promise' } = deadline;
  const stop = new AbortController();
  const late = delay(within, undefined, { signal: stop.signal }).then(() => {
    throw lateError(within, what);
  });
  late.catch(() => undefined);
  try {
    return await Promise.race([promise, late]);
  } finally {
    stop.abort();
  }
}

function lateError(within: number, what: NonNullable<Deadline['what']>): Error {
  return new Error(`Waited ${within} ms for ${typeof what === 'string' ? what : what()}`);
}
