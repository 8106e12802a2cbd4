import { A2AError } from '#libs/protocol';
import type { InFlightRefusal } from '#libs/service';

const RETRY_AFTER_SECONDS = '1';

/** What a caller is told where too much is in flight: 429 where it is its own, else 503; with the seconds to wait. */
export function inFlightError(refusal: InFlightRefusal): A2AError {
  const metadata = { limit: 'in-flight', retryAfterSeconds: RETRY_AFTER_SECONDS };
  if (refusal === 'caller') {
    const message = 'Too many bytes of yours are in flight; try again later';
    return new A2AError('RATE_LIMITED', { message, metadata, detailReason: 'RATE_LIMITED' });
  }
  const message = 'Too many bytes are in flight; try again later';
  return new A2AError('INTERNAL', { message, metadata, detailReason: 'OVERLOADED', status: 503 });
}
