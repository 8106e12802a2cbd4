import { randomUUID } from 'node:crypto';
import { type ArgumentsHost, Catch, type ExceptionFilter, Logger } from '@nestjs/common';
import { retryAfter } from '#libs/access';
import { toProblem, ProblemError } from '#libs/http';
import { isDatabaseAway } from '#libs/postgres';
import { isJsonObject, textStart } from '#libs/protocol';
import { REFUSED } from './close-codes.js';
import type { GatewayClient } from './gateway-client.js';

/** Reports a client that exceeded a limit of its socket; the socket is closed. */
export class SocketLimitExceeded extends ProblemError {
  constructor(detail: string) {
    super(429, detail);
  }
}

const logger = new Logger('GatewayProblems');

/** Reports the error of a message handler to the client. */
@Catch()
export class GatewayProblems implements ExceptionFilter {
  catch(error: unknown, host: ArgumentsHost): void {
    const message = host.switchToWs();
    const data: unknown = message.getData();
    const id = isJsonObject(data) && typeof data['id'] === 'string' ? data['id'] : undefined;
    sendProblem(message.getClient<GatewayClient>(), error, id);
  }
}

/**
 * Sends a client an error frame with the problem that a request to `/api` would get. Logs internal errors, and an
 * unreachable database, under the id in the frame. Closes the socket with 1008 after `SocketLimitExceeded`.
 * @param subscription id of the affected subscription
 */
export function sendProblem(client: GatewayClient, error: unknown, subscription?: string): void {
  const problem = { ...toProblem(error), requestId: randomUUID() };
  if (problem.status === 500) logger.error({ err: error, requestId: problem.requestId }, problem.detail);
  else if (isDatabaseAway(error)) logger.warn({ err: error, requestId: problem.requestId }, problem.detail);
  const frame = {
    type: 'error',
    ...(subscription !== undefined && { subscription: shownId(subscription) }),
    problem,
    ...retryOf(error),
  };
  void client.sendFrame(frame);
  if (error instanceof SocketLimitExceeded) client.close(REFUSED, error.message);
}

function retryOf(error: unknown): { retryAfterSeconds?: number } {
  const seconds = retryAfter(error) ?? (isDatabaseAway(error) ? '1' : undefined);
  return seconds === undefined ? {} : { retryAfterSeconds: Number(seconds) };
}

/** Truncates an id that is too long to be valid, so that it does not inflate the response. */
function shownId(id: string): string {
  return id.length <= 64 ? id : `${textStart(id, 64)}…`;
}
