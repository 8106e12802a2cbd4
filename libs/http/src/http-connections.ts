import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Shutdown } from '#libs/service';
import { PacedSocket } from './answers/paced-socket.js';
import { ReaderPace } from './answers/reader-pace.js';

const SWEEP_MS = 200;

/**
 * Applies the minimum reader rate (ReaderPace) to every HTTP connection, and closes the connections at shutdown. Idle
 * ones are closed every 200 ms, so that keep-alive does not delay the exit; active ones after the grace time.
 */
@Injectable()
export class HttpConnections implements OnModuleInit {
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
