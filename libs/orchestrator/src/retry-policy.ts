import { derivedId } from '#libs/protocol';
import { durationOf, LONGEST_DURATION } from '#libs/expressions';
import type { Failure } from './failure.js';
import type { RetryConfig } from './workflow.js';

/** Kinds of failure that may be over the next time. Nothing that a caller did wrong is among them. */
export const PASSING: readonly string[] = ['connect', 'timeout', 'server-error', 'rate-limited', 'overloaded'];

const FIRST_PAUSE_MS = 1_000;
const FACTOR = 2;
const LONGEST_PAUSE_MS = 60_000;
const JITTER = 0.5;
/** An agent may ask for so long, or for `maxDelay` where that is longer. */
const LONGEST_REQUEST_MS = 3_600_000;

/** A failed attempt. */
export interface FailedAttempt {
  runId: string;
  /** The node, or the one of its instances. */
  instance: string;
  /** Which attempt it was, from 1. */
  attempt: number;
  /** How many milliseconds the agent asked to wait. */
  retryAfter?: number;
}

/** Whether a node is tried again after an attempt, as far as the kind of its failure decides that. */
export function isRetried({ attempts, on = [...PASSING] }: RetryConfig, attempt: number, { kind }: Failure): boolean {
  return attempt < attempts && on.includes(kind);
}

/**
 * How long to wait before the next attempt, in milliseconds: longer each time, and not the same for all who failed
 * together; but for the same attempt always the same. An agent that asks for more gets more, beyond `maxDelay` too, as
 * long as `isTooLong` does not refuse it.
 */
export function retryPause(retry: RetryConfig, { runId, instance, attempt, retryAfter = 0 }: FailedAttempt): number {
  const { factor = FACTOR, jitter = JITTER } = retry;
  const first = durationOf(retry.delay) ?? FIRST_PAUSE_MS;
  const longest = durationOf(retry.maxDelay) ?? LONGEST_PAUSE_MS;
  const grown = first === 0 ? 0 : Math.min(first * factor ** (attempt - 1), longest);
  const chance = Number.parseInt(derivedId(runId, instance, attempt).slice(0, 8), 16) / 2 ** 32;
  return Math.min(Math.max(Math.round(grown * (1 - jitter * chance)), retryAfter), LONGEST_DURATION);
}

/** True if an agent asks to wait for longer than an hour, and than `maxDelay`. */
export function isTooLong(retry: RetryConfig, retryAfter: number): boolean {
  return retryAfter > Math.max(durationOf(retry.maxDelay) ?? LONGEST_PAUSE_MS, LONGEST_REQUEST_MS);
}
