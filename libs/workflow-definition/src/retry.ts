import { LONGEST_DURATION, parseDuration } from '#libs/expressions';
import { derivedId } from '#libs/protocol';
import { PASSING, type WorkflowFailure } from './failure.js';
import type { RetryConfig } from './workflow.js';

const FIRST_PAUSE_MS = 1_000;
const FACTOR = 2;
const LONGEST_PAUSE_MS = 60_000;
const JITTER = 0.5;
/**
 * Maximum pause before a retry that an agent may request (`Retry-After`), in milliseconds. A longer `maxDelay` of the
 * node extends it.
 */
const LONGEST_REQUEST_MS = 3_600_000;

/** A failed attempt of a node's instance. */
export interface FailedAttempt {
  runId: string;
  /** Name of the node's instance. */
  instance: string;
  /** Number of the attempt, from 1. */
  attempt: number;
  /** Pause that the agent asked for before the next call, in milliseconds; absent if it asked for none. */
  retryAfter?: number;
}

/**
 * True if a failed attempt is retried: its kind of failure is in `retry.on`, and `retry.attempts` allows another
 * attempt. `failed` also stands for `cut`, which was a part of it in 0.1.0.
 */
export function isRetried(
  { attempts, on = [...PASSING] }: RetryConfig,
  attempt: number,
  { kind }: WorkflowFailure,
): boolean {
  return attempt < attempts && (on.includes(kind) || (kind === 'cut' && on.includes('failed')));
}

/**
 * Returns the pause (backoff) before the next attempt, in milliseconds.
 * - It grows by `factor` with each attempt, up to `maxDelay`.
 * - A jitter makes it differ between instances that fail together. The same attempt always has the same pause.
 * - If the agent requests a longer pause, that pause is returned, even beyond `maxDelay`. Check the request with
 *   `isTooLong` first.
 * - It is at most a year.
 */
export function retryPause(retry: RetryConfig, { runId, instance, attempt, retryAfter = 0 }: FailedAttempt): number {
  const { factor = FACTOR, jitter = JITTER } = retry;
  const first = parseDuration(retry.delay) ?? FIRST_PAUSE_MS;
  const longest = parseDuration(retry.maxDelay) ?? LONGEST_PAUSE_MS;
  const grown = first === 0 ? 0 : Math.min(first * factor ** (attempt - 1), longest);
  const chance = Number.parseInt(derivedId(runId, instance, attempt).slice(0, 8), 16) / 2 ** 32;
  return Math.min(Math.max(Math.round(grown * (1 - jitter * chance)), retryAfter), LONGEST_DURATION);
}

/**
 * True if the pause that an agent requests (`retryAfter`, in milliseconds) is longer than an hour and longer than
 * `maxDelay`.
 */
export function isTooLong(retry: RetryConfig, retryAfter: number): boolean {
  return retryAfter > Math.max(parseDuration(retry.maxDelay) ?? LONGEST_PAUSE_MS, LONGEST_REQUEST_MS);
}
