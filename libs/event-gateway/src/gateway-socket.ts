import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { Injectable, Logger } from '@nestjs/common';
import {
  Authentication,
  BrowserGuard,
  type Caller,
  CallerLimits,
  EVENTS_PROTOCOL,
  limitName,
  OpenCalls,
  permissionDenied,
  retryAfter,
  upgradeCredentials,
} from '#libs/access';
import { problem, readQuery } from '#libs/http';
import { isDatabaseAway } from '#libs/postgres';
import { A2AError } from '#libs/protocol';
import { Metrics, Shutdown } from '#libs/service';
import { WebSocket, WebSocketServer } from 'ws';
import { EventGateway } from './event-gateway.js';
import { EventsQuery, type GatewayQuery } from './gateway-query.js';

const PATH = '/events';
const HEARTBEAT_MS = 15_000;
/** Bytes that may wait in a socket before its client is waited for, and how long. */
const MAX_WAITING = 1024 * 1024;
const DRAIN_TIMEOUT_MS = 30_000;
/** Clients have nothing to say here. */
const MAX_MESSAGE = 1024;
/** How long a client may take to say goodbye, or to take a refusal. */
const CLOSE_TIMEOUT_MS = 2_000;

const GOING_AWAY = 1001;
const REFUSED = 1008;
const INTERNAL_ERROR = 1011;
const TRY_AGAIN_LATER = 1013;

/** The types of the library do not know `closeTimeout` yet. */
const OPTIONS = {
  noServer: true,
  maxPayload: MAX_MESSAGE,
  perMessageDeflate: false,
  closeTimeout: CLOSE_TIMEOUT_MS,
  handleProtocols,
};

/**
 * The event gateway as a WebSocket at `/events` of the HTTP server. A client that takes nothing for thirty seconds is cut,
 * one too that has not answered a ping when the next is due; both come back with the cursor of their last frame.
 */
@Injectable()
export class GatewaySocket {
  private readonly logger = new Logger(GatewaySocket.name);
  private readonly server = new WebSocketServer(OPTIONS);
  private readonly silent = new WeakSet<WebSocket>();
  private heartbeat: NodeJS.Timeout | undefined;

  constructor(
    private readonly gateway: EventGateway,
    private readonly shutdown: Shutdown,
    private readonly browsers: BrowserGuard,
    private readonly authentication: Authentication,
    private readonly openCalls: OpenCalls,
    private readonly limits: CallerLimits,
    metrics: Metrics,
  ) {
    shutdown.register('streams', () => this.end());
    metrics.gauge(
      'parley_gateway_sockets',
      'WebSocket clients of the event gateway',
      [],
      () => this.server.clients.size,
    );
  }

  /** Takes over the upgrades of a server; those to another path are refused. */
  attach(server: Server): void {
    server.on('upgrade', (request, socket, head) => this.upgrade(request, socket, head));
    this.heartbeat = setInterval(() => this.beat(), HEARTBEAT_MS).unref();
  }

  private upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    const refusal = this.browsers.refusal(request, PATH);
    if (refusal) return refuse(socket, refusal.status, refusal.message);
    const url = URL.parse(request.url ?? '/', 'http://unused');
    if (url?.pathname !== PATH) return refuse(socket, 404, 'There is nothing at this address');
    if (this.shutdown.started.aborted) return refuse(socket, 503, 'The service is shutting down');
    void this.admit(request, url, socket, head);
  }

  /** Never rejects. */
  private async admit(request: IncomingMessage, url: URL, socket: Duplex, head: Buffer): Promise<void> {
    try {
      const caller = await this.callerOf(request);
      const wanted = readQuery(EventsQuery, parameters(url.searchParams));
      const query = this.gateway.read(wanted, { tenant: caller.tenant, owner: caller.owner });
      const who = limitName(caller, request.socket.remoteAddress);
      this.limits.enter(who)();
      socket.once('close', this.limits.stream(who));
      this.server.handleUpgrade(request, socket, head, (client) => {
        client.on(
          'close',
          this.openCalls.watch(caller, () => endAccess(client)),
        );
        void this.serve(client, query);
      });
    } catch (error) {
      if (!(error instanceof A2AError)) this.logger.error({ err: error }, 'A WebSocket could not be opened');
      if (error instanceof A2AError) refuse(socket, error.status, error.message, retryAfter(error));
      else if (isDatabaseAway(error)) refuse(socket, 503, 'The service is not available at the moment', '1');
      else refuse(socket, 500, 'Internal error');
    }
  }

  /** @throws A2AError UNAUTHENTICATED, or PERMISSION_DENIED */
  private async callerOf(request: IncomingMessage): Promise<Caller> {
    const caller = await this.authentication.caller(upgradeCredentials(request.headers));
    if (!caller.permissions.has('agents')) throw permissionDenied(['agents']);
    return caller;
  }

  /** Never rejects. */
  private async serve(client: WebSocket, query: GatewayQuery): Promise<void> {
    const ended = new AbortController();
    client.on('close', () => ended.abort(CLOSED));
    client.on('error', () => client.terminate());
    client.on('pong', () => this.silent.delete(client));
    try {
      for await (const { text } of this.gateway.follow(query, ended.signal)) await send(client, text);
    } catch (error) {
      this.logger.warn({ err: error }, 'A client of the event gateway could not be served');
      client.close(INTERNAL_ERROR, 'Internal error; come back with your cursor');
    }
  }

  private beat(): void {
    for (const client of this.server.clients) {
      if (this.silent.has(client)) client.terminate();
      else {
        this.silent.add(client);
        client.ping();
      }
    }
  }

  private end(): void {
    clearInterval(this.heartbeat);
    for (const client of this.server.clients) client.close(GOING_AWAY, 'The service is shutting down');
  }
}

const CLOSED = new Error('The socket is closed');

/** Resolves when the client may be sent more; cuts it where that takes too long. */
async function send(client: WebSocket, text: string): Promise<void> {
  if (client.readyState !== WebSocket.OPEN) return;
  if (client.bufferedAmount < MAX_WAITING) return client.send(text);
  await new Promise<void>((resolve) => {
    const late = setTimeout(() => {
      client.close(TRY_AGAIN_LATER, 'Too slow; come back with your cursor');
      client.terminate();
    }, DRAIN_TIMEOUT_MS);
    client.send(text, () => {
      clearTimeout(late);
      resolve();
    });
  });
}

function endAccess(client: WebSocket): boolean {
  client.close(REFUSED, 'The credentials have ended');
  return true;
}

/** The protocol that is spoken; never one that carries a ticket, which the answer would repeat. */
function handleProtocols(offered: Set<string>): string | false {
  return offered.has(EVENTS_PROTOCOL) && EVENTS_PROTOCOL;
}

function parameters(search: URLSearchParams): Record<string, unknown> {
  return Object.fromEntries(
    [...new Set(search.keys())].map((name) => {
      const values = search.getAll(name);
      return [name, values.length === 1 ? values[0] : values];
    }),
  );
}

function refuse(socket: Duplex, status: number, detail: string, retrySeconds?: string): void {
  const refusal = problem(status, detail);
  const body = JSON.stringify(refusal);
  const head = [
    `HTTP/1.1 ${status} ${refusal.title}`,
    'Connection: close',
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...(retrySeconds === undefined ? [] : [`Retry-After: ${retrySeconds}`]),
    ...(status === 401 ? ['WWW-Authenticate: Bearer realm="parley"'] : []),
  ];
  // What the client has sent already is read, or its end would never be seen; one that does not close is cut.
  socket.resume().end(`${head.join('\r\n')}\r\n\r\n${body}`);
  const cut = setTimeout(() => socket.destroy(), CLOSE_TIMEOUT_MS).unref();
  socket.once('close', () => clearTimeout(cut));
}
