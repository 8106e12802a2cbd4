import { A2AError } from '#libs/protocol';
import type { InFlightRefusal } from '#libs/service';

const RETRY_AFTER_SECONDS = '1';

/**
 * Returns the error for a request beyond the bytes in flight: 429 at the limit of the caller or its tenant, else 503,
 * both with the seconds to wait.
 */
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
