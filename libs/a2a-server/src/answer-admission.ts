import { ResponseAdmission, ResponseBudgetExceeded } from '#libs/http';
import { A2AError } from '#libs/protocol';

const RETRY_AFTER_SECONDS = '5';

/** Room for the answer of one call of the protocol; its errors are A2AErrors. */
export class AnswerAdmission extends ResponseAdmission {
  protected override createRefusal(message: string): Error {
    return overloadedError(message);
  }
}

/**
 * Rethrows an error of a room. @throws A2AError with status 503 if there was no room in time; any other error unchanged
 */
export function refuseRoom(error: unknown): never {
  throw error instanceof ResponseBudgetExceeded ? overloadedError(error.message) : error;
}

function overloadedError(message: string): A2AError {
  const metadata = { limit: 'answers', retryAfterSeconds: RETRY_AFTER_SECONDS };
  return new A2AError('INTERNAL', { message, metadata, detailReason: 'OVERLOADED', status: 503 });
}
