import { type ArgumentsHost, Catch, type ExceptionFilter, Logger, type WsMessageHandler } from '@nestjs/common';
import { AbstractWsAdapter } from '@nestjs/websockets';
import { randomUUID } from 'node:crypto';
import { lastValueFrom, type Observable } from 'rxjs';
import { type RawData, WebSocket } from 'ws';
import { retryAfter } from '#libs/access';
import { ProblemError, toProblem } from '#libs/http-server';
import { isDatabaseAway } from '#libs/postgres';
import { invalidParams, isJsonObject, textStart } from '#libs/protocol';
import { type GatewayClient, REFUSED } from './gateway-client.js';
import type { GatewaySocket } from './gateway-socket.js';

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
 * Sends a client an error frame with the problem that a request to `/api` would get for the same error. If the error is
 * internal, or the database is unreachable, logs the error with the `requestId` that the frame contains. Closes the
 * socket with 1008 after `SocketLimitExceeded`.
 * @param subscription id of the affected subscription; absent if the error concerns none
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

/**
 * Truncates the subscription id of an error frame if it is too long to be valid, so that it does not inflate the
 * frame.
 */
function shownId(id: string): string {
  return id.length <= 64 ? id : `${textStart(id, 64)}…`;
}

type Handlers = ReadonlyMap<string, WsMessageHandler['callback']>;
type Transform = (data: unknown) => Observable<unknown>;

/**
 * Connects Nest's gateway classes with GatewaySocket, which answers upgrades and closes sockets itself.
 *
 * - A message is JSON text: `{"event": name, "data": {…}}`. The result of its handler is sent as the response.
 * - A message without a handler is answered with an error frame.
 * - A client that sends more than a hundred messages in a second gets an error, and its socket is closed with 1008.
 */
export class GatewayAdapter extends AbstractWsAdapter {
  private readonly logger = new Logger(GatewayAdapter.name);

  constructor(private readonly sockets: GatewaySocket) {
    super();
  }

  override create(): GatewaySocket['server'] {
    return this.sockets.server;
  }

  override bindClientDisconnect(client: GatewayClient, callback: () => void): void {
    client.once('close', callback);
  }

  override bindMessageHandlers(client: GatewayClient, handlers: WsMessageHandler[], transform: Transform): void {
    const callbacks = new Map(handlers.map(({ message, callback }) => [message, callback]));
    client.on('ping', () => void countMessage(client, 0));
    client.on('message', (data, isBinary) => {
      const text = decodeMessage(data);
      if (countMessage(client, text.length))
        void this.dispatchMessage(client, isBinary ? '' : text, callbacks, transform);
    });
  }

  /** Does nothing: a phase of the shutdown closes the sockets, before Nest closes its servers. */
  override async close(): Promise<void> {}

  /** Handles a message and sends the response. Never rejects. */
  private async dispatchMessage(
    client: GatewayClient,
    text: string,
    handlers: Handlers,
    transform: Transform,
  ): Promise<void> {
    try {
      const { event, data } = readMessage(text);
      const handle = handlers.get(event);
      if (!handle) throw unknownEvent(event, [...handlers.keys()]);
      const answer = await lastValueFrom(transform(handle(data)), { defaultValue: undefined });
      if (answer !== undefined) await client.sendFrame(answer as object);
    } catch (error) {
      this.reportProblem(client, error);
    }
  }

  private reportProblem(client: GatewayClient, error: unknown): void {
    try {
      sendProblem(client, error);
    } catch (cause) {
      this.logger.error({ err: cause }, 'An error could not be sent to a client of the event gateway');
    }
  }
}

/** Counts a message. @returns false if the message must not be read, since the socket is closed or about to be */
function countMessage(client: GatewayClient, bytes: number): boolean {
  if (client.readyState !== WebSocket.OPEN) return false;
  if (client.countMessage(bytes)) return true;
  sendProblem(client, new SocketLimitExceeded('Too many messages on this socket; open it again later'));
  return false;
}

function decodeMessage(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString();
  return data instanceof ArrayBuffer ? Buffer.from(data).toString() : data.toString();
}

/** Parses a message. @throws A2AError INVALID_PARAMS */
function readMessage(text: string): { event: string; data: unknown } {
  const message = parseJson(text);
  if (!isJsonObject(message)) {
    throw invalidParams({ field: '', description: 'a message must be a JSON object, sent as text' });
  }
  const { event, data = null } = message;
  if (typeof event === 'string') return { event, data };
  throw invalidParams({ field: 'event', description: 'must be the name of an event' });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function unknownEvent(event: string, known: readonly string[]): Error {
  const description = `names no event: "${textStart(event, 64)}"; the events are ${known.join(', ')}`;
  return invalidParams({ field: 'event', description });
}
