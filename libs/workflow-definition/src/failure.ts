import { LONGEST_DURATION, parseDuration } from '#libs/expressions';
import { derivedId } from '#libs/protocol';
import type { RetryConfig } from './workflow.js';

/**
 * Reason for the failure of a node or a run. Retries (`retry.on`) depend on it alone, never on a text. It includes every
 * kind of a failed call (`CallFailureKind`).
 */
export type FailureKind =
  | 'connect'
  | 'timeout' // also the node's own limit
  | 'server-error'
  | 'overloaded'
  | 'client-error'
  | 'unauthorized'
  | 'credential'
  | 'rpc-error'
  | 'not-found'
  | 'invalid-response'
  | 'refused'
  | 'untrusted-card'
  | 'changed-card'
  | 'aborted'
  | 'failed' // the agent's Task failed
  | 'rejected' // the agent's Task was rejected
  | 'internal'
  | 'rate-limited' // the agent asks to be called less often (HTTP 429)
  | 'invalid-output' // the node's result violates its definition
  | 'expression' // an expression of the definition has no value in this run
  | 'deadline' // the run's deadline has passed
  | 'max-iterations'; // a loop has reached its limit and failed

/** Failure of a node, or of a run without a failed node. */
export interface WorkflowFailure {
  kind: FailureKind;
  /** Text that may be shown to callers: it quotes agents, never internals. */
  message: string;
  node?: string;
  /** Name of the instance if it differs from the node's id: `draft@2`, `tr[17]`. */
  instance?: string;
}

const ALL: Record<FailureKind, true> = {
  connect: true,
  timeout: true,
  'server-error': true,
  'rate-limited': true,
  overloaded: true,
  failed: true,
  rejected: true,
  'invalid-output': true,
  expression: true,
  'client-error': true,
  unauthorized: true,
  credential: true,
  'rpc-error': true,
  'not-found': true,
  'invalid-response': true,
  refused: true,
  'untrusted-card': true,
  'changed-card': true,
  aborted: true,
  deadline: true,
  'max-iterations': true,
  internal: true,
};

/** Kinds of failure that `retry.on` may name: all but `internal`, with those first that are worth another attempt. */
export const FAILURE_KINDS: readonly string[] = Object.keys(ALL).filter((kind) => kind !== 'internal');

/** True if a text is a kind of failure. The log of another version may have other kinds. */
export function isFailureKind(kind: string): kind is FailureKind {
  return Object.hasOwn(ALL, kind);
}

/** Kinds of failure that may be temporary. Errors of the caller are not among them. */
export const PASSING: readonly string[] = ['connect', 'timeout', 'server-error', 'rate-limited', 'overloaded'];

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
