import { setTimeout as delay } from 'node:timers/promises';

/** Less than a test's own limit (jest.config.mjs), so that the failure names what was waited for. */
export const SAFETY_NET_MS = 180_000;

export interface Deadline {
  /** Milliseconds until the wait is given up; three minutes unless told otherwise: a safety net, which no test asserts. */
  within?: number;
  /** Name of the awaited condition, for the failure; a function may add the last value seen. */
  what?: string | (() => string);
}

/**
 * Polls until the probe gives a value that is neither `undefined` nor `false`; throws when the deadline passes. It asks
 * more and more seldom: who is waited for needs the processor.
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

/** The promise's value; throws when the deadline passes first. */
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
