import { A2AError } from '#libs/protocol';
import type { InFlightRefusal } from '#libs/service';

const RETRY_AFTER_SECONDS = '1';

/** The error where too much is in flight: 429 where it is the caller's or its tenant's, else 503; with the seconds to wait. */
export function inFlightError(refusal: InFlightRefusal): A2AError {
  const metadata = { limit: 'in-flight', retryAfterSeconds: RETRY_AFTER_SECONDS };
  if (refusal !== 'service') {
    const whose = refusal === 'caller' ? 'yours' : 'your tenant';
    const message = `Too many bytes of ${whose} are in flight; try again later`;
    return new A2AError('RATE_LIMITED', { message, metadata, detailReason: 'RATE_LIMITED' });
  }
  const message = 'Too many bytes are in flight; try again later';
  return new A2AError('INTERNAL', { message, metadata, detailReason: 'OVERLOADED', status: 503 });
}
