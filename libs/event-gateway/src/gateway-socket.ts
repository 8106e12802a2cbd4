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
  upgradeCredentials,
} from '#libs/access';
import { ProblemError, readQuery } from '#libs/http';
import { isDatabaseAway } from '#libs/postgres';
import { A2AError } from '#libs/protocol';
import { Metrics, Shutdown } from '#libs/service';
import { WebSocket, WebSocketServer } from 'ws';
import { EventGateway, type GatewayFrame } from './event-gateway.js';
import { EventsQuery } from './gateway-query.js';
import { CLOSE_TIMEOUT_MS, refuseUpgrade } from './refused-upgrade.js';

const PATH = '/events';
const HEARTBEAT_MS = 15_000;
/** Bytes that may wait in a socket before its client is waited for, and how long. */
const MAX_WAITING = 1024 * 1024;
const DRAIN_TIMEOUT_MS = 30_000;
/** Clients have nothing to say here. */
const MAX_MESSAGE = 1024;

const GOING_AWAY = 1001;
const REFUSED = 1008;
const INTERNAL_ERROR = 1011;
const TRY_AGAIN_LATER = 1013;

const ENDING = 'The service is shutting down';

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
    const url = URL.parse(request.url ?? '/', 'http://unused');
    const refusal = this.browsers.refusal(request, PATH) ?? this.refusal(url);
    if (refusal || url === null) refuseUpgrade(request, socket, refusal);
    else void this.admit(request, url, socket, head);
  }

  private refusal(url: URL | null): ProblemError | undefined {
    if (url?.pathname !== PATH) return new ProblemError(404, 'There is nothing at this address');
    return this.shutdown.started.aborted ? new ProblemError(503, ENDING) : undefined;
  }

  /** What a database that does not answer keeps from being known is not waited for at the shutdown, which waits for it. */
  private unlessEnding<T>(answer: Promise<T>): Promise<T> {
    const { started } = this.shutdown;
    return new Promise((resolve, reject) => {
      const end = (): void => reject(new ProblemError(503, ENDING));
      started.addEventListener('abort', end, { once: true });
      answer.then(resolve, reject).finally(() => started.removeEventListener('abort', end));
    });
  }

  /** Never rejects. */
  private async admit(request: IncomingMessage, url: URL, socket: Duplex, head: Buffer): Promise<void> {
    try {
      const caller = await this.unlessEnding(this.callerOf(request));
      // Nobody would be told any more that its stream is over.
      if (socket.destroyed) return;
      const wanted = readQuery(EventsQuery, parameters(url.searchParams));
      const query = this.gateway.read(wanted, { tenant: caller.tenant, owner: caller.owner });
      const who = limitName(caller, request.socket.remoteAddress);
      this.limits.enter(who)();
      socket.once('close', this.limits.stream(who));
      const follow = await this.unlessEnding(this.gateway.open(query));
      const refusal = this.refusal(url);
      if (refusal) return void refuseUpgrade(request, socket, refusal);
      this.server.handleUpgrade(request, socket, head, (client) => {
        client.on(
          'close',
          this.openCalls.watch(caller, () => endAccess(client)),
        );
        void this.serve(client, follow);
      });
    } catch (error) {
      const { requestId } = refuseUpgrade(request, socket, error);
      if (error instanceof A2AError || this.shutdown.started.aborted) return;
      this.logger[isDatabaseAway(error) ? 'warn' : 'error'](
        { err: error, requestId },
        'A WebSocket could not be opened',
      );
    }
  }

  /** @throws A2AError UNAUTHENTICATED, or PERMISSION_DENIED */
  private async callerOf(request: IncomingMessage): Promise<Caller> {
    const caller = await this.authentication.caller(upgradeCredentials(request.headers));
    if (!caller.permissions.has('agents')) throw permissionDenied(['agents']);
    return caller;
  }

  /** Never rejects. */
  private async serve(client: WebSocket, follow: (signal: AbortSignal) => AsyncIterable<GatewayFrame>): Promise<void> {
    const ended = new AbortController();
    client.on('close', () => ended.abort(CLOSED));
    client.on('error', () => client.terminate());
    client.on('pong', () => this.silent.delete(client));
    try {
      for await (const { text } of follow(ended.signal)) await send(client, text);
    } catch (error) {
      this.logger.warn({ err: error }, 'A client of the event gateway could not be served');
      if (isDatabaseAway(error)) client.close(TRY_AGAIN_LATER, 'The database is away; come back with your cursor');
      else client.close(INTERNAL_ERROR, 'Internal error; come back with your cursor');
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
    for (const client of this.server.clients) client.close(GOING_AWAY, ENDING);
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
