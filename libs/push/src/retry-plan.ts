import { OutboundFault, requestedPause } from '#libs/http-client';
import { Backoff } from '#libs/service';

/** Maximum number of attempts to send one event. The pauses between so many attempts add up to four or five hours. */
export const MAX_ATTEMPTS = 20;
const LONGEST_PAUSE_MS = 30 * 60_000;
const BACKOFF = new Backoff(1_000, LONGEST_PAUSE_MS, 0.25);
/** Pauses before the next attempt at a receiver that gave no answer: from one second, doubled up to a minute. */
export const RECEIVER_BACKOFF = new Backoff(1_000, 60_000);
const GONE = 410;

/** Outcome of one attempt to send a notification. */
export interface AttemptOutcome {
  delivered: boolean;
  /** HTTP status of the response, if there was one. */
  status?: number;
  /**
   * Kind of failure, if there was no response:
   * - `connect`: no connection was made.
   * - `timeout`: the attempt exceeded its time limit.
   * - `interrupted`: the connection broke.
   * - `refused`: this service may not call the receiver's address.
   * - `unreadable`: the secrets of the config cannot be decrypted, so nothing was sent.
   */
  error?: string;
  /** Pause that the receiver requested (`Retry-After`), in milliseconds; absent if it requested none. */
  retryAfterMs?: number;
}

export function outcomeOfAnswer(status: number, retryAfter: string | undefined): AttemptOutcome {
  if (status >= 200 && status < 300) return { delivered: true, status };
  const retryAfterMs = requestedPause(retryAfter);
  return { delivered: false, status, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

/**
 * Converts an error of the HTTP client (OutboundFault) into an outcome.
 * @throws the error itself if the receiver did not cause it
 */
export function outcomeOfError(error: unknown): AttemptOutcome {
  if (!(error instanceof OutboundFault) || error.kind === 'too-long') throw error;
  return { delivered: false, error: error.kind };
}

/**
 * Returns why a failed attempt is the last one; `undefined` if it is retried.
 * @param attempts number of failed attempts at this event
 */
export function finalReason(outcome: AttemptOutcome, attempts: number): string | undefined {
  if (outcome.status === GONE) return 'The receiver answered 410 Gone';
  if (outcome.error === 'unreadable') return 'The token and credentials can no longer be decrypted';
  if (outcome.error === 'refused') return 'This service may not call the address of the receiver';
  if (attempts < MAX_ATTEMPTS) return undefined;
  return `${attempts} attempts failed, the last one with ${outcome.status ?? `a ${outcome.error} error`}`;
}

/**
 * Returns the pause after a failed attempt in milliseconds: one second, doubled after each failure, at most half an
 * hour, less a random part of up to a quarter. A receiver may request a longer pause, up to the same maximum.
 */
export function pauseAfter(attempts: number, { retryAfterMs = 0 }: AttemptOutcome, random = Math.random): number {
  return Math.max(BACKOFF.pauseAfter(attempts - 1, 1 - random()), Math.min(retryAfterMs, LONGEST_PAUSE_MS));
}

/** True if the receiver gave no answer: all deliveries of the caller to this receiver then wait (RECEIVER_BACKOFF). */
export function isUnanswered({ error }: AttemptOutcome): boolean {
  return error === 'connect' || error === 'timeout';
}
