import {
  OutboundConnectError,
  OutboundInterruptedError,
  OutboundRefusedError,
  OutboundTimeoutError,
  requestedPause,
} from '#libs/outbound';

/** The pauses between twenty attempts add up to four or five hours. */
export const MAX_ATTEMPTS = 20;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30 * 60_000;
const FIRST_BACK_OFF_MS = 1_000;
const LONGEST_BACK_OFF_MS = 60_000;
const GONE = 410;

/** What came of one attempt. */
export interface AttemptOutcome {
  delivered: boolean;
  /** The status of the answer, where there was one. */
  status?: number;
  /** The class of what went wrong, where there was no answer: `connect`, `timeout`, `interrupted`, `refused`; `unreadable`: nothing was sent. */
  error?: string;
  /** The receiver's own wish for a pause (`Retry-After`), in milliseconds. */
  retryAfterMs?: number;
}

export function answered(status: number, retryAfter: string | undefined): AttemptOutcome {
  if (status >= 200 && status < 300) return { delivered: true, status };
  const retryAfterMs = requestedPause(retryAfter);
  return { delivered: false, status, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

/** @throws the error itself where it is none of the outbound client's: a fault of ours */
export function unanswered(error: unknown): AttemptOutcome {
  if (error instanceof OutboundRefusedError) return { delivered: false, error: 'refused' };
  if (error instanceof OutboundConnectError) return { delivered: false, error: 'connect' };
  if (error instanceof OutboundTimeoutError) return { delivered: false, error: 'timeout' };
  if (error instanceof OutboundInterruptedError) return { delivered: false, error: 'interrupted' };
  throw error;
}

/** Why nothing more is sent after a failed attempt; `undefined` where it is tried again. */
export function finalReason(outcome: AttemptOutcome, attempts: number): string | undefined {
  if (outcome.status === GONE) return 'The receiver answered 410 Gone';
  if (outcome.error === 'unreadable') return 'Its token and credentials cannot be decrypted any more';
  if (outcome.error === 'refused') return 'The address of the receiver may not be called by this service';
  if (attempts < MAX_ATTEMPTS) return undefined;
  return `${attempts} attempts failed, the last one with ${outcome.status ?? `a ${outcome.error} error`}`;
}

/**
 * The pause after a failed attempt in milliseconds: a second, twice as long after each failure, at most half an hour,
 * a quarter of it by chance. A receiver may ask for a longer one, to the same limit.
 */
export function pauseAfter(attempts: number, { retryAfterMs = 0 }: AttemptOutcome, random = Math.random): number {
  const full = Math.min(FIRST_PAUSE_MS * 2 ** (attempts - 1), LONGEST_PAUSE_MS);
  return Math.max(full * (0.75 + random() / 4), Math.min(retryAfterMs, LONGEST_PAUSE_MS));
}

/** Whether the receiver said nothing at all: it is not asked again at once, for whichever Task. */
export function isUnanswered({ error }: AttemptOutcome): boolean {
  return error === 'connect' || error === 'timeout';
}

/** How long a receiver is left alone, in milliseconds, after so many attempts without an answer: a second to a minute. */
export function backOffAfter(failures: number): number {
  return Math.min(FIRST_BACK_OFF_MS * 2 ** (failures - 1), LONGEST_BACK_OFF_MS);
}
