import { Injectable, Logger } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Server as SocketServer, type WebSocket, WebSocketServer } from 'ws';
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
  setCaller,
  upgradeCredentials,
} from '#libs/access';
import { frameRoomOf, type Problem, ProblemError, readQuery, requestTrace, toProblem } from '#libs/http-server';
import { isDatabaseAway } from '#libs/postgres';
import { A2AError } from '#libs/protocol';
import { Metrics, Shutdown } from '#libs/service';
import { EventGateway } from '../event-gateway.js';
import { EventsQuery } from '../gateway-query.js';
import { GatewayClient, GOING_AWAY, REFUSED, type SocketAdmission } from './gateway-client.js';

/**
 * Maximum milliseconds that the service waits for the client to close a connection, after the service has sent a close
 * frame or refused the upgrade; then the service ends the connection itself.
 */
const CLOSE_TIMEOUT_MS = 2_000;

/**
 * Answers a WebSocket request with the problem that any request to `/api` would get, and closes the connection.
 * @returns the problem sent to the caller
 */
function refuseUpgrade(request: IncomingMessage, socket: Duplex, error: unknown): Problem {
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

const PATH = '/events';
const HEARTBEAT_MS = 15_000;
/** Maximum bytes of a message from a client: enough for a cursor of the maximum size, and ids. */
const MAX_MESSAGE = 80 * 1024;

const ENDING = 'The service is shutting down';

/** Options of the WebSocket server. The types of `ws` do not declare `closeTimeout` yet. */
const OPTIONS = {
  noServer: true,
  maxPayload: MAX_MESSAGE,
  perMessageDeflate: false,
  closeTimeout: CLOSE_TIMEOUT_MS,
  WebSocket: GatewayClient,
  handleProtocols,
};

/**
 * Accepts the sockets of the event gateway: upgrades of the HTTP server at `/events`, which EventsGateway serves.
 *
 * - Unauthorized clients are refused before the upgrade, with the status and problem of any request.
 * - If a client has not answered a ping when the next one is due, the service ends the connection.
 * - The shutdown closes all sockets with 1001.
 */
@Injectable()
export class GatewaySocket {
  private readonly logger = new Logger(GatewaySocket.name);
  /** Server that emits `connection` with the client and its admission. */
  readonly server: SocketServer<typeof GatewayClient> = new WebSocketServer(OPTIONS);
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
    shutdown.registerStep('streams', () => this.closeAll());
    metrics.gauge(
      'parley_gateway_sockets',
      'WebSocket clients of the event gateway',
      [],
      () => this.server.clients.size,
    );
  }

  /** Takes over the upgrades of an HTTP server; upgrades to other paths than `/events` are refused. */
  attachTo(server: Server): void {
    server.on('upgrade', (request, socket, head) => this.answerUpgrade(request, socket, head));
    this.heartbeat = setInterval(() => this.pingClients(), HEARTBEAT_MS).unref();
  }

  private answerUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    const url = URL.parse(request.url ?? '/', 'http://unused');
    const refusal = this.browsers.findRefusal(request, PATH) ?? this.upgradeRefusal(url);
    if (refusal || url === null) refuseUpgrade(request, socket, refusal);
    else void this.admitClient(request, url, socket, head);
  }

  private upgradeRefusal(url: URL | null): ProblemError | undefined {
    if (url?.pathname !== PATH) return new ProblemError(404, 'There is nothing at this address');
    return this.shutdown.started.aborted ? new ProblemError(503, ENDING) : undefined;
  }

  /**
   * Awaits an answer. Rejects when the shutdown begins: the shutdown would otherwise wait for an unreachable
   * database.
   */
  private unlessEnding<T>(answer: Promise<T>): Promise<T> {
    const { started } = this.shutdown;
    return new Promise((resolve, reject) => {
      const rejectEnding = (): void => reject(new ProblemError(503, ENDING));
      started.addEventListener('abort', rejectEnding, { once: true });
      answer.then(resolve, reject).finally(() => started.removeEventListener('abort', rejectEnding));
    });
  }

  /** Admits a client or refuses its upgrade. Never rejects. */
  private async admitClient(request: IncomingMessage, url: URL, socket: Duplex, head: Buffer): Promise<void> {
    try {
      const caller = await this.unlessEnding(this.callerOf(request));
      // The end of the stream would not be reported any more.
      if (socket.destroyed) return;
      const wanted = readQuery(EventsQuery, queryParameters(url.searchParams));
      const scope = { tenant: caller.tenant, owner: caller.owner };
      const query = this.gateway.readConnection(wanted, scope);
      const who = limitName(caller, request.socket.remoteAddress);
      this.limits.enterRequest(who)();
      socket.once('close', this.limits.enterStream(who));
      const follow = await this.unlessEnding(this.gateway.followQuery(query));
      const refusal = this.upgradeRefusal(url);
      if (refusal) return void refuseUpgrade(request, socket, refusal);
      this.server.handleUpgrade(request, socket, head, (client) => {
        this.watchClient(client, caller);
        setCaller(request, caller);
        const enterFrame = frameRoomOf(request);
        this.server.emit('connection', client, { scope, who, follow, enterFrame } satisfies SocketAdmission);
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

  /** Authenticates the caller. @throws A2AError UNAUTHENTICATED, or PERMISSION_DENIED */
  private async callerOf(request: IncomingMessage): Promise<Caller> {
    const caller = await this.authentication.identifyCaller(upgradeCredentials(request.headers));
    if (!caller.permissions.has('agents')) throw permissionDenied(['agents']);
    return caller;
  }

  private watchClient(client: GatewayClient, caller: Caller): void {
    client.once(
      'close',
      this.openCalls.watchStream(caller, () => endAccess(client)),
    );
    client.on('error', () => client.terminate());
    client.on('pong', () => this.silent.delete(client));
  }

  private pingClients(): void {
    for (const client of this.server.clients) {
      if (this.silent.has(client)) client.terminate();
      else {
        this.silent.add(client);
        client.ping();
      }
    }
  }

  private closeAll(): void {
    clearInterval(this.heartbeat);
    for (const client of this.server.clients) client.close(GOING_AWAY, ENDING);
  }
}

function endAccess(client: WebSocket): boolean {
  client.close(REFUSED, 'The credentials are no longer valid');
  return true;
}

/** Chooses the subprotocol for the response. Never chooses an offer with a ticket: the response would expose it. */
function handleProtocols(offered: Set<string>): string | false {
  return offered.has(EVENTS_PROTOCOL) && EVENTS_PROTOCOL;
}

function queryParameters(search: URLSearchParams): Record<string, unknown> {
  return Object.fromEntries(
    [...new Set(search.keys())].map((name) => {
      const values = search.getAll(name);
      return [name, values.length === 1 ? values[0] : values];
    }),
  );
}
