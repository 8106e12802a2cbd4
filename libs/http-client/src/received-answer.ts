import { pipeline, Readable } from 'node:stream';
import { createBrotliDecompress, createUnzip } from 'node:zlib';
import type { Dispatcher } from 'undici';
import type { OutboundAnswer, OutboundDeadlines, SendGate } from './outbound-call.js';
import { OutboundTooLongError } from './outbound-errors.js';

const DECODERS = { gzip: createUnzip, 'x-gzip': createUnzip, deflate: createUnzip, br: createBrotliDecompress };

/** True if bodies with this content coding (RFC 9110, section 8.4.1) are decoded for their reader. */
function isDecoded(coding: string): coding is keyof typeof DECODERS {
  return Object.hasOwn(DECODERS, coding);
}

/** Decodes a body by its content coding (`Content-Encoding`); returns it unchanged if the coding is unknown. */
function decodeBody(body: AsyncIterable<Uint8Array>, coding: string): Readable {
  const source = Readable.from(body, { objectMode: false });
  const name = coding.toLowerCase();
  if (!isDecoded(name)) return source;
  // An error in either stream ends both streams and reaches the reader of the decoded stream.
  return pipeline(source, DECODERS[name](), () => undefined);
}

type ReceivedHeaders = Record<string, string | string[] | undefined>;

/**
 * Maximum number of bytes that are buffered before the body is read. A body that is discarded is read to its end up
 * to this size.
 */
const MAX_UNREAD_BYTES = 128 * 1024;
/** Milliseconds for the rest of a body after its reader has stopped; then the connection is closed. */
const REST_MS = 100;

/**
 * Answer as undici's dispatcher delivers it. It needs no stream, so it costs a quarter of `undici.request`: a body
 * that arrives in one piece is passed on as that piece.
 */
export class ReceivedAnswer implements OutboundAnswer, Dispatcher.DispatchHandler {
  status = 0;
  headers: ReceivedHeaders = {};
  /** Resolves with this answer when its head has arrived; rejects with an error of the outbound client. */
  readonly head: Promise<this>;
  private readonly headCame = Promise.withResolvers<this>();
  private controller: Dispatcher.DispatchController | undefined;
  private unread: Buffer[] = [];
  private bytes = 0;
  private reading: 'not yet' | 'all' | 'in pieces' | 'drained' = 'not yet';
  private ended = false;
  private failure: Error | undefined;
  /** Error of the `gate` function, which prevented the request. */
  private refusal: Error | undefined;
  private wake: (() => void) | undefined;
  /** Timer that closes the connection if the rest of a body that is not read any more does not end. */
  private restTimer: NodeJS.Timeout | undefined;

  constructor(
    private readonly limits: OutboundDeadlines,
    private readonly gate?: SendGate,
  ) {
    this.head = this.headCame.promise;
    limits.signal?.addEventListener('abort', this.abortCall, { once: true });
  }

  getHeader(name: string): string | undefined {
    const value = this.headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  }

  async readText(maxBytes: number): Promise<string> {
    return (await this.readContent(maxBytes)).toString();
  }

  /** Reads the whole body, decoded. @throws OutboundTooLongError for more than `maxBytes` bytes */
  async readContent(maxBytes: number): Promise<Buffer> {
    if (this.getHeader('content-encoding') !== undefined) return this.decodedContent(maxBytes);
    this.reading = 'all';
    this.controller?.resume();
    while (!this.ended && this.bytes <= maxBytes) await this.waitForChange();
    if (this.failure !== undefined) throw this.failure;
    if (this.bytes > maxBytes) throw this.tooLong(maxBytes);
    return this.unread.length === 1 ? this.unread[0]! : Buffer.concat(this.unread, this.bytes);
  }

  readPieces(): AsyncIterable<Uint8Array> {
    return this.getHeader('content-encoding') === undefined ? this.readRaw() : this.readDecoded();
  }

  discardBody(): void {
    this.abortCall();
  }

  /**
   * Reads a short body to its end and drops it, so that its connection can be reused; a longer body closes the
   * connection.
   */
  drainUnread(): void {
    this.reading = 'drained';
    this.controller?.resume();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.limits.signal?.aborted) return this.abortCall();
    try {
      this.gate?.();
    } catch (error) {
      this.refusal = error as Error;
      // Unlike an abort, an error leaves the connection to the next call.
      throw error;
    }
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: ReceivedHeaders): void {
    if (status < 200) return;
    this.status = status;
    this.headers = headers;
    this.headCame.resolve(this);
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Buffer): void {
    this.bytes += piece.byteLength;
    if (this.reading !== 'drained') this.unread.push(piece);
    if (this.bytes > MAX_UNREAD_BYTES) {
      if (this.reading === 'drained') return this.abortCall();
      if (this.reading !== 'all') controller.pause();
    }
    this.wake?.();
  }

  onResponseEnd(): void {
    this.finishBody();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.failure = this.refusal ?? (this.limits.translateError(error) as Error);
    this.headCame.reject(this.failure);
    this.finishBody();
  }

  private finishBody(): void {
    this.ended = true;
    clearTimeout(this.restTimer);
    this.limits.signal?.removeEventListener('abort', this.abortCall);
    this.wake?.();
  }

  private readonly abortCall = (): void => {
    if (!this.ended) this.controller?.abort(new Error('The call was given up', { cause: this.limits.signal?.reason }));
  };

  private tooLong(maxBytes: number): OutboundTooLongError {
    this.abortCall();
    return new OutboundTooLongError(maxBytes);
  }

  private get isDrained(): boolean {
    return this.reading === 'drained';
  }

  private waitForChange(): Promise<void> {
    return new Promise((resolve) => (this.wake = resolve));
  }

  /** Yields the body as received, not decoded. Adjusts `bytes`, the number of bytes that wait to be read. */
  private async *readRaw(): AsyncGenerator<Buffer> {
    this.reading = 'in pieces';
    try {
      for (;;) {
        const pieces = this.unread;
        this.unread = [];
        this.bytes = 0;
        this.controller?.resume();
        // Not `yield*`, which costs more promises per piece.
        for (const piece of pieces) yield piece;
        if (this.unread.length > 0) continue;
        if (this.failure !== undefined) throw this.failure;
        if (this.ended || this.isDrained) return;
        await this.waitForChange();
      }
    } finally {
      this.leaveBody();
    }
  }

  /**
   * Drops the rest of a body whose reader has stopped, and ends a read that waits. A stream often ends right after the
   * event at which its reader stops, so its connection can be reused. A rest that is long or does not end soon closes
   * the connection.
   */
  leaveBody(): void {
    if (this.ended || this.isDrained) return;
    this.unread = [];
    this.bytes = 0;
    this.drainUnread();
    this.wake?.();
    this.restTimer = setTimeout(this.abortCall, REST_MS).unref();
  }

  private async *readDecoded(): AsyncGenerator<Buffer> {
    try {
      yield* decodeBody(this.readRaw(), this.getHeader('content-encoding') ?? '') as AsyncIterable<Buffer>;
    } catch (error) {
      throw this.limits.translateError(error);
    } finally {
      // The decoder reads ahead, so `readRaw` may wait for a piece that never comes.
      this.leaveBody();
    }
  }

  private async decodedContent(maxBytes: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    let bytes = 0;
    for await (const piece of this.readDecoded()) {
      bytes += piece.byteLength;
      if (bytes > maxBytes) throw this.tooLong(maxBytes);
      pieces.push(piece);
    }
    return Buffer.concat(pieces, bytes);
  }
}

/**
 * Maximum declared length, in bytes, of a body that is read as a whole before the Response is created: a Response
 * over bytes costs far less than one over a stream. Bodies of errors are not read in advance, since the caller may
 * not want to wait for them.
 */
const READ_AT_ONCE = 64 * 1024;
const WITHOUT_BODY = new Set([101, 204, 205, 304]);

export interface AnswerContext {
  url: URL;
  redirected: boolean;
}

type WebBody = Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>> | null;

/**
 * Converts an answer to a Response of `fetch`, with gzip, deflate and brotli decoded. If the body breaks off, reading
 * it throws the errors of the outbound client.
 */
export async function toResponse(answer: ReceivedAnswer, { url, redirected }: AnswerContext): Promise<Response> {
  const headers = new Headers();
  for (const [name, value] of Object.entries(answer.headers)) {
    if (Array.isArray(value)) for (const each of value) headers.append(name, each);
    else if (value !== undefined) headers.set(name, value);
  }
  const body = await bodyOf(answer);
  if (isDecoded(headers.get('content-encoding')?.toLowerCase() ?? '')) {
    headers.delete('content-encoding');
    headers.delete('content-length');
  }
  const response = new Response(body, { status: answer.status, headers });
  return Object.defineProperties(response, { url: { value: url.href }, redirected: { value: redirected } });
}

async function bodyOf(answer: ReceivedAnswer): Promise<WebBody> {
  if (WITHOUT_BODY.has(answer.status)) {
    answer.drainUnread();
    return null;
  }
  const length = answer.getHeader('content-length');
  const isShort = length !== undefined && Number(length) <= READ_AT_ONCE;
  if (isShort && answer.status < 300 && answer.getHeader('content-encoding') === undefined)
    return (await answer.readContent(READ_AT_ONCE)) as Uint8Array<ArrayBuffer>;
  return streamOf(answer);
}

/** Converts the body of an answer to a stream. Canceling it leaves the body, even during a read. */
function streamOf(answer: ReceivedAnswer): ReadableStream<Uint8Array<ArrayBuffer>> {
  const pieces = answer.readPieces()[Symbol.asyncIterator]();
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>): Promise<void> => {
    const next = await pieces.next();
    if (next.done) controller.close();
    else controller.enqueue(next.value as Uint8Array<ArrayBuffer>);
  };
  const cancel = (): void => {
    answer.leaveBody();
    pieces.return?.().catch(() => undefined);
  };
  return new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
}
