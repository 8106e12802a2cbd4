import { Logger } from '@nestjs/common';
import { isDatabaseAway } from '#libs/platform';
import { A2AError } from '#libs/protocol';
import { UnknownAgent } from '#libs/executor';

const logger = new Logger('A2aServer');

/**
 * What a caller may see of an error. An unknown agent is code -32001 in JSON-RPC and 404 in HTTP, with its own reason
 * (row K4); a database that is out of reach is 503 everywhere, and may be tried again; whatever else is no A2AError is
 * "Internal error", and its cause is only logged.
 */
export function publicError(error: unknown): A2AError {
  if (error instanceof A2AError) return logged(error);
  if (error instanceof UnknownAgent) return unknownAgentError(error);
  return isDatabaseAway(error) ? unavailable(error) : logged(new A2AError('INTERNAL', { cause: error }));
}

function unavailable(cause: unknown): A2AError {
  logger.warn({ err: cause }, 'An A2A request could not be answered, as the database is out of reach');
  const message = 'The service is not available at the moment; try again';
  return new A2AError('INTERNAL', { message, detailReason: 'UNAVAILABLE', status: 503, cause });
}

function unknownAgentError(error: UnknownAgent): A2AError {
  return new A2AError('TASK_NOT_FOUND', {
    message: error.message,
    detailReason: error.reason,
    metadata: error.metadata,
    cause: error,
  });
}

function logged(error: A2AError): A2AError {
  if (error.status === 500) logger.error({ err: error.cause ?? error }, 'An A2A request failed');
  return error;
}
