import { Global, Injectable, Module, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { Shutdown } from '#libs/service';
import { FrameRoom } from './answers/frame-room.js';
import { PacedSocket, ReaderPace } from './answers/reader-pace.js';
import { ResponseBudget } from './answers/response-budget.js';
import { ServiceAddress } from './service-address.js';
import { JwksController, SigningKeyRow, SigningKeys } from './signing/signing-keys.js';

/** Maximum time in milliseconds for a client to send its headers. */
const MAX_HEADERS_MS = 20_000;

/** Returns Fastify's time limits for slow requests. The member `http` has the limits of Node's own server. */
export function requestTimes(requestTimeoutMs: number) {
  const headersTimeout = Math.min(MAX_HEADERS_MS, requestTimeoutMs);
  return {
    requestTimeout: requestTimeoutMs,
    http: { headersTimeout, connectionsCheckingInterval: headersTimeout / 4 },
  };
}

/** Returns CORS options: methods and headers that pages of these origins may send, and headers that they may read. */
export function corsOptions(origins: readonly string[]) {
  return {
    origin: [...origins],
    methods: ['GET', 'POST', 'PUT', 'DELETE'],
    allowedHeaders: [
      'Content-Type',
      'Content-Disposition',
      'Authorization',
      'X-API-Key',
      'A2A-Version',
      'A2A-Extensions',
      'X-A2A-Extensions',
      'Last-Event-ID',
      'Idempotency-Key',
      'If-Match',
      'If-None-Match',
      'If-Range',
      'Range',
      'Mcp-Method',
      'Mcp-Name',
      'Mcp-Protocol-Version',
      'Mcp-Session-Id',
      'traceparent',
      'tracestate',
    ],
    exposedHeaders: [
      'A2A-Extensions',
      'Content-Disposition',
      'Content-Range',
      'X-A2A-Extensions',
      'ETag',
      'Link',
      'Location',
      'Mcp-Session-Id',
      'Next-Page-Token',
      'Retry-After',
      'WWW-Authenticate',
    ],
  };
}

const SWEEP_MS = 200;

/**
 * Applies the minimum reader rate (ReaderPace) to every HTTP connection, and closes the connections at shutdown:
 * - every 200 ms the connections that are idle, so that keep-alive does not delay the end of the process
 * - all others when the signal of this shutdown step aborts, because the time for the shutdown is over
 */
@Injectable()
class HttpConnections implements OnModuleInit {
  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly shutdown: Shutdown,
    private readonly pace: ReaderPace,
  ) {}

  onModuleInit(): void {
    const server: Server | undefined = this.adapterHost.httpAdapter?.getHttpServer();
    server?.on('connection', (socket: Socket) => socket.once('close', this.pace.watchReader(new PacedSocket(socket))));
    this.shutdown.registerStep('connections', ({ signal }) => this.closeConnections(signal));
  }

  private async closeConnections(signal: AbortSignal): Promise<void> {
    const server: Server | undefined = this.adapterHost.httpAdapter?.getHttpServer();
    if (!server?.listening) return;
    const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    const cutConnections = () => server.closeAllConnections();
    server.closeIdleConnections();
    if (signal.aborted) cutConnections();
    else signal.addEventListener('abort', cutConnections, { once: true });
    await closed;
    clearInterval(sweep);
  }
}

/**
 * Provides what all HTTP surfaces share: the minimum rate of readers, the memory for large answers and frames, the
 * service's addresses, and its signing keys. Needs ServiceModule, PostgresModule and OutboundModule.
 */
@Global()
@Module({
  imports: [TypeOrmModule.forFeature([SigningKeyRow])],
  controllers: [JwksController],
  providers: [ReaderPace, ResponseBudget, FrameRoom, HttpConnections, ServiceAddress, SigningKeys],
  exports: [ReaderPace, ResponseBudget, FrameRoom, ServiceAddress, SigningKeys],
})
export class HttpModule {}
