import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { retryAfter } from '#libs/access';
import { type Problem, toProblem, requestTrace } from '#libs/http';
import { isDatabaseAway } from '#libs/postgres';

/** Maximum milliseconds in which a client must close its connection, or receive a refusal. */
export const CLOSE_TIMEOUT_MS = 2_000;

/**
 * Answers a WebSocket request with the problem that any request to `/api` would get, and closes the connection.
 * @returns the problem sent to the caller
 */
export function refuseUpgrade(request: IncomingMessage, socket: Duplex, error: unknown): Problem {
  const [instance = ''] = (request.url ?? '').split('?', 1);
  const refusal = { ...toProblem(error), instance, requestId: randomUUID(), ...requestTrace(request) };
  const { status, title } = refusal;
  const body = JSON.stringify(refusal);
  const retrySeconds = retryAfter(error) ?? (isDatabaseAway(error) ? '1' : undefined);
  const head = [
    `HTTP/1.1 ${status} ${title}`,
    'Connection: close',
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...(retrySeconds === undefined ? [] : [`Retry-After: ${retrySeconds}`]),
    ...(status === 401 ? ['WWW-Authenticate: Bearer realm="parley"'] : []),
  ];
  // Sent data must be read, or the end of the connection would not be seen; a connection that stays open is cut.
  socket.resume().end(`${head.join('\r\n')}\r\n\r\n${body}`);
  const cut = setTimeout(() => socket.destroy(), CLOSE_TIMEOUT_MS).unref();
  socket.once('close', () => clearTimeout(cut));
  return refusal;
}
