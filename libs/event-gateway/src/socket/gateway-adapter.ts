import { Logger, type WsMessageHandler } from '@nestjs/common';
import { AbstractWsAdapter } from '@nestjs/websockets';
import { invalidParams, isJsonObject, textStart } from '#libs/protocol';
import { lastValueFrom, type Observable } from 'rxjs';
import { type RawData, WebSocket } from 'ws';
import type { GatewayClient } from './gateway-client.js';
import { SocketLimitExceeded, sendProblem } from './gateway-problems.js';
import type { GatewaySocket } from './gateway-socket.js';

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
      this.logger.error({ err: cause }, 'A client of the event gateway could not be told of an error');
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
