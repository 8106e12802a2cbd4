import { LONGEST_DURATION, parseDuration } from '#libs/expressions';
import { derivedId } from '#libs/protocol';
import { PASSING, type WorkflowFailure } from './failure.js';
import type { RetryConfig } from './workflow.js';

const FIRST_PAUSE_MS = 1_000;
const FACTOR = 2;
const LONGEST_PAUSE_MS = 60_000;
const JITTER = 0.5;
/** Longest pause that an agent may ask for, unless `maxDelay` is longer. */
const LONGEST_REQUEST_MS = 3_600_000;

/** A failed attempt. */
export interface FailedAttempt {
  runId: string;
  /** Name of the node's instance. */
  instance: string;
  /** Number of the attempt, from 1. */
  attempt: number;
  /** Milliseconds that the agent asked to wait. */
  retryAfter?: number;
}

/** True if the kind of a failure and the number of attempts allow a retry. */
export function isRetried(
  { attempts, on = [...PASSING] }: RetryConfig,
  attempt: number,
  { kind }: WorkflowFailure,
): boolean {
  return attempt < attempts && on.includes(kind);
}

/**
 * Returns the pause before the next attempt, in milliseconds. It grows up to `maxDelay` and differs between instances
 * that fail together; for the same attempt it is always the same. A longer pause that the agent asks for overrides it,
 * beyond `maxDelay` too, unless `isTooLong` rejects it.
 */
export function retryPause(retry: RetryConfig, { runId, instance, attempt, retryAfter = 0 }: FailedAttempt): number {
  const { factor = FACTOR, jitter = JITTER } = retry;
  const first = parseDuration(retry.delay) ?? FIRST_PAUSE_MS;
  const longest = parseDuration(retry.maxDelay) ?? LONGEST_PAUSE_MS;
  const grown = first === 0 ? 0 : Math.min(first * factor ** (attempt - 1), longest);
  const chance = Number.parseInt(derivedId(runId, instance, attempt).slice(0, 8), 16) / 2 ** 32;
  return Math.min(Math.max(Math.round(grown * (1 - jitter * chance)), retryAfter), LONGEST_DURATION);
}

/** True if the agent asks for a pause longer than an hour and longer than `maxDelay`. */
export function isTooLong(retry: RetryConfig, retryAfter: number): boolean {
  return retryAfter > Math.max(parseDuration(retry.maxDelay) ?? LONGEST_PAUSE_MS, LONGEST_REQUEST_MS);
}
