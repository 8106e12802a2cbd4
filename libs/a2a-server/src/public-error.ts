import { Logger } from '@nestjs/common';
import { UnknownAgent } from '#libs/agents';
import { UnavailableFault } from '#libs/faults';
import { ResponseAdmission, ResponseBudgetExceeded } from '#libs/http-server';
import { isDatabaseAway } from '#libs/postgres';
import { A2AError, TaskChangedHands } from '#libs/protocol';

const logger = new Logger('A2aServer');

/**
 * Converts an error to the error that callers may see.
 *
 * - An unknown agent is code -32001 in JSON-RPC and 404 in HTTP, with another reason than the error for a missing Task.
 * - An unreachable database is 503 and may be retried. The same holds for a Message that was not stored before another
 *   replica took over its Task.
 * - Any other error that is no A2AError is "Internal error"; its cause is only logged.
 */
export function publicError(error: unknown): A2AError {
  if (error instanceof A2AError && !(error.status === 500 && isDatabaseAway(error.cause))) return logFault(error);
  if (error instanceof UnavailableFault) return unavailable(error);
  if (error instanceof UnknownAgent) return unknownAgentError(error);
  if (isDatabaseAway(error instanceof A2AError ? error.cause : error)) return databaseAway(error);
  return logFault(new A2AError('INTERNAL', { cause: error }));
}

/** Creates the 503 error for an UnavailableFault. Logs only one kind of fault: another replica took over the Task. */
function unavailable(cause: UnavailableFault): A2AError {
  if (cause instanceof TaskChangedHands)
    logger.warn({ err: cause }, 'Another replica took over a task before its Message was confirmed as stored');
  const { publicMessage: message, reason: detailReason } = cause;
  return new A2AError('INTERNAL', { message, detailReason, status: 503, cause });
}

function unknownAgentError(error: UnknownAgent): A2AError {
  return new A2AError('TASK_NOT_FOUND', {
    message: error.message,
    detailReason: error.reason,
    metadata: error.metadata,
    cause: error,
  });
}

function databaseAway(cause: unknown): A2AError {
  logger.warn({ err: cause }, 'The database was unreachable for an A2A request');
  const message = 'The database is out of reach at the moment; try again later';
  return new A2AError('INTERNAL', { message, detailReason: 'DATABASE_UNAVAILABLE', status: 503, cause });
}

function logFault(error: A2AError): A2AError {
  if (error.status === 500) logger.error({ err: error.cause ?? error }, 'An A2A request failed');
  return error;
}

const RETRY_AFTER_SECONDS = '5';

/** Admission that reserves memory for the answer of one A2A call (see ResponseAdmission); its errors are A2AErrors. */
export class AnswerAdmission extends ResponseAdmission {
  protected override createRefusal(message: string): Error {
    return overloadedError(message);
  }
}

/**
 * Rethrows the error of a reservation of memory (ByteRoom).
 * @throws A2AError with status 503 if there was no room in time; any other error unchanged
 */
export function refuseRoom(error: unknown): never {
  throw error instanceof ResponseBudgetExceeded ? overloadedError(error.message) : error;
}

function overloadedError(message: string): A2AError {
  const metadata = { limit: 'answers', retryAfterSeconds: RETRY_AFTER_SECONDS };
  return new A2AError('INTERNAL', { message, metadata, detailReason: 'OVERLOADED', status: 503 });
}
