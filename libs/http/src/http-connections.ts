import type { Server } from 'node:http';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Shutdown } from '#libs/service';

const SWEEP_MS = 200;

/**
 * Closes the HTTP connections at the shutdown: idle ones (a client's keep-alive) every 200 ms, so that they do not hold
 * the exit, and those still in use when the grace time has passed.
 */
@Injectable()
export class HttpConnections implements OnModuleInit {
  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly shutdown: Shutdown,
  ) {}

  onModuleInit(): void {
    this.shutdown.register('connections', ({ signal }) => this.close(signal));
  }

  private async close(signal: AbortSignal): Promise<void> {
    const server: Server | undefined = this.adapterHost.httpAdapter?.getHttpServer();
    if (!server?.listening) return;
    const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    const cut = () => server.closeAllConnections();
    server.closeIdleConnections();
    if (signal.aborted) cut();
    else signal.addEventListener('abort', cut, { once: true });
    await closed;
    clearInterval(sweep);
  }
}
