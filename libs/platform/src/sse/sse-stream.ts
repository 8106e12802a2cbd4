import { once } from 'node:events';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { formatSseFrame, type SseFrame } from './sse-frame.js';

export interface SseStreamOptions {
  /** Milliseconds of silence after which a comment is sent, default 15,000. */
  heartbeatMs?: number;
  /** Milliseconds after which a reader that takes nothing is cut, default 30,000. */
  drainTimeoutMs?: number;
  headers?: OutgoingHttpHeaders;
  /** Default 200. */
  status?: number;
}

const HEADERS: OutgoingHttpHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  connection: 'keep-alive',
  'x-accel-buffering': 'no',
};
const HEARTBEAT = ': keep-alive\n\n';
/** Frames that may wait for a slow reader when a caller does not wait itself. */
const MAX_WAITING = 1_000;

/**
 * Server-sent events over a response that nobody else writes to (Fastify: `reply.hijack()`, `reply.raw`). It never
 * buffers more than the socket does: `send` resolves once the reader may be sent more, and a reader that takes nothing
 * for `drainTimeoutMs` is cut. Losing the reader is no error: sending on a closed stream does nothing.
 */
export class SseStream {
  private readonly closing = new AbortController();
  private readonly heartbeat: NodeJS.Timeout;
  private readonly drainTimeoutMs: number;
  private draining: Promise<void> | undefined;
  private waiting = 0;
  private ended = false;

  constructor(
    private readonly raw: ServerResponse,
    { heartbeatMs = 15_000, drainTimeoutMs = 30_000, headers, status = 200 }: SseStreamOptions = {},
  ) {
    this.drainTimeoutMs = drainTimeoutMs;
    raw.once('close', () => this.close());
    raw.on('error', () => this.close());
    raw.writeHead(status, { ...HEADERS, ...headers });
    raw.flushHeaders();
    this.heartbeat = setInterval(() => this.beat(), heartbeatMs);
    this.heartbeat.unref();
    if (raw.destroyed) this.close();
  }

  /** Aborted when the reader has gone, was cut, or the stream has ended. */
  get closed(): AbortSignal {
    return this.closing.signal;
  }

  /** Frames keep their order even when a caller does not wait; one that lets a thousand of them wait loses the reader. */
  async send(frame: SseFrame): Promise<void> {
    if (this.draining) await this.turn();
    if (this.closed.aborted || this.ended) return;
    this.write(formatSseFrame(frame));
    if (this.draining) await this.draining;
  }

  /** Sends what is under way and closes. Idempotent. */
  end(): void {
    if (this.ended || this.closed.aborted) return;
    this.ended = true;
    clearInterval(this.heartbeat);
    const cut = setTimeout(() => this.raw.destroy(), this.drainTimeoutMs).unref();
    this.raw.once('close', () => clearTimeout(cut));
    this.raw.end(() => this.close());
  }

  private async turn(): Promise<void> {
    this.waiting += 1;
    if (this.waiting > MAX_WAITING) this.raw.destroy();
    while (this.draining) await this.draining;
    this.waiting -= 1;
  }

  private write(text: string): void {
    this.heartbeat.refresh();
    if (!this.raw.write(text)) this.draining = this.drained().finally(() => (this.draining = undefined));
  }

  /** Resolves also when the reader is lost. */
  private async drained(): Promise<void> {
    const cut = setTimeout(() => this.raw.destroy(), this.drainTimeoutMs);
    cut.unref();
    await once(this.raw, 'drain', { signal: this.closed }).catch(() => undefined);
    clearTimeout(cut);
  }

  private beat(): void {
    if (!this.draining && !this.ended) this.write(HEARTBEAT);
  }

  private close(): void {
    clearInterval(this.heartbeat);
    this.closing.abort();
  }
}
