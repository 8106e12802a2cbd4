import { A2AError } from '#libs/protocol';

/**
 * Resolves as a Message becomes durable, at the latest after `limitMs`. The Message stays with the journal, which may still
 * write it.
 * @throws A2AError INTERNAL with reason MESSAGE_NOT_CONFIRMED and status 503 after that time
 */
export async function acceptedInTime(durable: Promise<void>, limitMs: number): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(notConfirmed()), limitMs);
  try {
    await Promise.race([durable, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The refusal of a new Message while nothing can be written: nothing of it is kept. */
export function journalStalled(): A2AError {
  const message = 'The database is out of reach at the moment; try again later';
  return new A2AError('INTERNAL', { message, detailReason: 'DATABASE_UNAVAILABLE', status: 503 });
}

function notConfirmed(): A2AError {
  const message =
    'The message could not be stored in time, and may be stored later; try again later, under the same Idempotency-Key if there was one';
  return new A2AError('INTERNAL', { message, detailReason: 'MESSAGE_NOT_CONFIRMED', status: 503 });
}
