import { A2AError } from '#libs/protocol';

/** Time limit for a Message to become durable. */
export interface AcceptanceLimit {
  /** Milliseconds (JOURNAL_STALL_LIMIT). */
  readonly limitMs: number;
  /** Returns the milliseconds for which the journal has written nothing although events wait. */
  standsStillMs(): number;
}

/** Factor of the limit after which a Message fails even though the journal makes progress. */
const LIMITS_IN_ALL = 4;
const NOT_CONFIRMED = 'MESSAGE_NOT_CONFIRMED';

/**
 * Resolves when a Message is durable. After a failure the journal keeps the Message and may still write it.
 * @throws A2AError INTERNAL with reason MESSAGE_NOT_CONFIRMED and status 503 if nothing is written for `limitMs`, and
 * after four times that in any case
 */
export async function acceptedInTime(durable: Promise<void>, limit: AcceptanceLimit): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const begun = performance.now();
  const checkLimits = (): NodeJS.Timeout | undefined => {
    const left = Math.min(
      limit.limitMs - limit.standsStillMs(),
      limit.limitMs * LIMITS_IN_ALL - (performance.now() - begun),
    );
    if (left > 0) return scheduleCheck(left);
    reject(notConfirmed());
    return undefined;
  };
  const scheduleCheck = (ms: number): NodeJS.Timeout => setTimeout(() => (timer = checkLimits()), ms);
  let timer: NodeJS.Timeout | undefined = scheduleCheck(limit.limitMs);
  try {
    await Promise.race([durable, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the error for a new Message while nothing can be written. No part of the Message is kept. */
export function journalStalled(): A2AError {
  const message = 'The database is out of reach at the moment; try again later';
  return new A2AError('INTERNAL', { message, detailReason: 'DATABASE_UNAVAILABLE', status: 503 });
}

/** True if the error is that of a Message which the journal may still write. */
export function isNotConfirmed(error: unknown): boolean {
  return error instanceof A2AError && error.detailReason === NOT_CONFIRMED;
}

function notConfirmed(): A2AError {
  const message =
    'The message could not be stored in time, and may be stored later; try again later, under the same Idempotency-Key if there was one';
  return new A2AError('INTERNAL', { message, detailReason: NOT_CONFIRMED, status: 503 });
}
