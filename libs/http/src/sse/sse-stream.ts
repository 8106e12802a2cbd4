import { once } from 'node:events';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { ResponseBudgetExceeded } from '../answers/byte-room.js';
import { type EnterFrame, frameRoomOf, LARGE_FRAME } from '../answers/frame-room.js';
import { PacedSocket } from '../answers/paced-socket.js';
import { KeepAlive } from './keep-alive.js';
import { formatSseFrame, type SseFrame } from './sse-frame.js';

export interface SseStreamOptions {
  /** Milliseconds of silence after which a comment is sent, default 15,000. */
  heartbeatMs?: number;
  /** Milliseconds after which a reader that takes nothing is cut, default 30,000. */
  drainTimeoutMs?: number;
  headers?: OutgoingHttpHeaders;
  /** Default 200. */
  status?: number;
  /** Told once when the reader has gone, was cut, or the stream has ended. */
  owner?: { end(): void };
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
/** Divides `drainTimeoutMs` into the time in which the kernel may still take bytes. */
const FIRST_MOMENTS = 30;
/** Characters that are written without waiting for what else the same turn of the event loop has to say. */
const WRITTEN_AT_ONCE = 64 * 1024;
/** Shared by all streams: an abort without a reason makes an error with a stack trace for each. */
const CLOSED = new Error('The stream is closed');

/**
 * Server-sent events over a response that nobody else writes to (Fastify: `reply.hijack()`, `reply.raw`). What is sent
 * in one turn of the event loop, the headers included, goes out in one piece. It never buffers more than the socket
 * does: `send` resolves once the reader may be sent more, and a reader that takes nothing for `drainTimeoutMs` is cut. One
 * that takes little keeps its stream: ReaderPace has the rate that it must keep. A large frame is put together when there
 * is room for it (FrameRoom); where there is none in time, the stream ends, and its reader comes back.
 * Losing the reader is no error: sending on a closed stream does nothing.
 */
export class SseStream {
  private readonly keepAlive: KeepAlive;
  private readonly drainTimeoutMs: number;
  private readonly owner: SseStreamOptions['owner'];
  private closing: AbortController | undefined;
  private draining: Promise<void> | undefined;
  private waiting = 0;
  /** Frames of this turn of the event loop. */
  private text = '';
  private flushing = false;
  private headersWritten = false;
  private ended = false;
  private gone = false;

  constructor(
    private readonly raw: ServerResponse,
    { heartbeatMs = 15_000, drainTimeoutMs = 30_000, headers, status = 200, owner }: SseStreamOptions = {},
  ) {
    this.drainTimeoutMs = drainTimeoutMs;
    this.owner = owner;
    const close = (): void => this.close();
    raw.on('close', close);
    raw.on('error', close);
    raw.writeHead(status, { ...HEADERS, ...headers });
    this.keepAlive = new KeepAlive(heartbeatMs, this);
    this.flushSoon();
    if (raw.destroyed) this.close();
  }

  /** Whether the reader has gone, was cut, or the stream has ended. */
  get isClosed(): boolean {
    return this.gone;
  }

  /** Aborted when the stream is closed. */
  get closed(): AbortSignal {
    this.closing ??= new AbortController();
    if (this.gone) this.closing.abort(CLOSED);
    return this.closing.signal;
  }

  /** Frames keep their order even when a caller does not wait; one that lets a thousand of them wait loses the reader. */
  async send(frame: SseFrame): Promise<void> {
    if (this.draining) await this.turn();
    if (this.gone || this.ended) return;
    const { length } = frame.data;
    const enter = length < LARGE_FRAME ? undefined : frameRoomOf(this.raw.req);
    if (enter) this.draining = this.sendLarge(frame, enter(length)).finally(() => (this.draining = undefined));
    else this.sendSmall(frame);
    if (this.draining) await this.draining;
  }

  private sendSmall(frame: SseFrame): void {
    this.text += formatSseFrame(frame);
    if (this.text.length < WRITTEN_AT_ONCE) this.flushSoon();
    else this.flush();
  }

  /** Sends a frame once it has room, which it keeps until the reader has taken it. */
  private async sendLarge(frame: SseFrame, entering: ReturnType<EnterFrame>): Promise<void> {
    const leave = await entering.catch((error: unknown) => {
      if (!(error instanceof ResponseBudgetExceeded)) throw error;
      this.end();
    });
    try {
      if (this.gone || this.ended) return;
      this.text += formatSseFrame(frame);
      if (!this.writeText()) await this.drained();
    } finally {
      leave?.();
    }
  }

  /** Sends what is under way and closes. Idempotent. */
  end(): void {
    if (this.ended || this.gone) return;
    this.ended = true;
    this.keepAlive.stop();
    this.raw.once('close', this.watchReader());
    const { text } = this;
    this.text = '';
    if (text === '') this.raw.end(() => this.close());
    else this.raw.end(text, () => this.close());
  }

  /** Says that the stream is there, unless its reader is slow. */
  beat(): void {
    if (this.draining || this.ended) return;
    this.text += HEARTBEAT;
    this.flush();
  }

  private async turn(): Promise<void> {
    this.waiting += 1;
    if (this.waiting > MAX_WAITING) this.raw.destroy();
    while (this.draining) await this.draining;
    this.waiting -= 1;
  }

  /** After the promises that are settled now have been heard: they may send more. */
  private flushSoon(): void {
    if (this.flushing) return;
    this.flushing = true;
    process.nextTick(() => {
      this.flushing = false;
      if (!this.gone && !this.ended) this.flush();
    });
  }

  private flush(): void {
    const { text } = this;
    if (text === '') {
      if (!this.headersWritten) this.raw.flushHeaders();
    } else if (!this.writeText()) this.draining ??= this.drained().finally(() => (this.draining = undefined));
    this.headersWritten = true;
  }

  /** @returns true if the reader may be sent more at once */
  private writeText(): boolean {
    const { text } = this;
    this.text = '';
    this.keepAlive.renew();
    const taken = this.write(text);
    this.headersWritten = true;
    return taken;
  }

  /**
   * Node keeps the headers as long as the response is open, as the tree of small strings that it put them together from
   * unless they were written for themselves. They still go out together with the text.
   */
  private write(text: string): boolean {
    const { raw } = this;
    if (this.headersWritten) return raw.write(text);
    const { socket } = raw;
    socket?.cork();
    raw.flushHeaders();
    const taken = raw.write(text);
    socket?.uncork();
    return taken;
  }

  /** Resolves also when the reader is lost. */
  private async drained(): Promise<void> {
    const unwatch = this.watchReader();
    await once(this.raw, 'drain', { signal: this.closed }).catch(() => undefined);
    unwatch();
  }

  /**
   * Cuts a reader that takes nothing for `drainTimeoutMs`, before ReaderPace does, which would throw away what has come
   * in and was not read. What the kernel still takes in the first moment is no progress of the reader.
   * @returns the function that ends the watch
   */
  private watchReader(): () => void {
    const { socket } = this.raw;
    const reader = socket ? new PacedSocket(socket) : undefined;
    let taken = reader?.bytesTaken();
    const look = (): void => {
      const before = taken;
      taken = reader?.bytesTaken();
      if (taken === before) this.raw.destroy();
    };
    const settled = setTimeout(() => (taken = reader?.bytesTaken()), this.drainTimeoutMs / FIRST_MOMENTS).unref();
    const looks = setInterval(look, this.drainTimeoutMs).unref();
    return () => {
      clearTimeout(settled);
      clearInterval(looks);
    };
  }

  private close(): void {
    if (this.gone) return;
    this.gone = true;
    this.keepAlive.stop();
    this.closing?.abort(CLOSED);
    this.owner?.end();
  }
}
