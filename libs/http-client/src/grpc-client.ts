import { type ClientHttp2Stream, constants, type IncomingHttpHeaders, type IncomingHttpStatusHeader } from 'node:http2';
import { ParleyFault } from '#libs/faults';
import { InvalidProtocolValue } from '#libs/protocol';
import type { SendGate } from './outbound-call.js';
import { OutboundInterruptedError, OutboundTooLongError } from './outbound-errors.js';
import type { OpenedStream, SharedConnections } from './shared-connections.js';

/** Call of a gRPC method with one request message. */
export interface GrpcCall {
  /** Origin of the server: `http:` without TLS, or `https:`. Its path is not used. */
  url: URL;
  /** Path of the method: `/package.Service/Method`. */
  path: string;
  /** Metadata of the call, with names in lower case. */
  metadata: Record<string, string>;
  message: Uint8Array;
  /** Maximum number of bytes of each message of the answer. */
  maxBytes: number;
  /** Deadline of the call, in milliseconds from now, which is sent to the server; absent: none. */
  deadlineMs?: number | undefined;
  signal?: AbortSignal | undefined;
  gate?: SendGate | undefined;
  /** Called for every received piece, and when the server has answered a ping. */
  alive?: (() => void) | undefined;
  /**
   * Called with the number of bytes of each received piece. The next piece is read once the promise resolves; the
   * server has to wait until then. `undefined`, or an absent function: the next piece is read at once.
   */
  countRead?: ((bytes: number) => Promise<void> | undefined) | undefined;
  /** Called with the number of bytes that were read and are not part of a complete message yet. */
  setPending?: ((bytes: number) => void) | undefined;
}

/**
 * Calls a gRPC method and yields the messages of its answer as they arrive. A reader that stops early cancels the call.
 *
 * - A call that the server has certainly not processed is repeated on another connection, at most twice.
 * - Answers are not compressed; a compressed message is an error.
 *
 * @throws GrpcStatusError for a status other than OK; GrpcHttpError for an answer with another HTTP status than 200;
 * InvalidProtocolValue for an answer that is not gRPC; OutboundFault; the signal's reason
 */
export type GrpcRequester = (call: GrpcCall) => AsyncIterable<Uint8Array>;

/** Status of a gRPC call that is not OK. */
export class GrpcStatusError extends ParleyFault {
  override readonly name = 'GrpcStatusError';

  constructor(
    /** Status code of gRPC, such as 14 for UNAVAILABLE. */
    readonly status: number,
    /** Error text that the server sent. */
    readonly text: string,
    /** Encoded `google.rpc.Status` with details of the error; `undefined` if the server sent none. */
    readonly details: Uint8Array | undefined,
    /** Metadata that the server sent after the messages (trailers). */
    readonly metadata: IncomingHttpHeaders,
  ) {
    super(`The gRPC call ended with status ${status}`);
  }

  override get kind(): 'rpc-error' {
    return 'rpc-error';
  }
}

/** Answer to a gRPC call by something before the server, such as a proxy: an HTTP status other than 200. */
export class GrpcHttpError extends ParleyFault {
  override readonly name = 'GrpcHttpError';

  constructor(
    readonly status: number,
    readonly retryAfter: string | undefined,
  ) {
    super(`The gRPC call was answered with HTTP ${status}`);
  }

  override get kind(): 'failed' {
    return 'failed';
  }
}

/**
 * Maximum number of attempts of a call. A call is attempted again only if the server has not processed the previous
 * attempt.
 */
const MOST_ATTEMPTS = 3;
const RESOURCE_EXHAUSTED = 8;
const OK = '0';

type AnswerHead = IncomingHttpHeaders & IncomingHttpStatusHeader;

/** Outcome of an attempt that the server has certainly not processed. */
const UNPROCESSED = Symbol('unprocessed');

/** Makes gRPC calls over shared connections, as GrpcRequester documents. */
export async function* callGrpc(connections: SharedConnections, call: GrpcCall): AsyncIterable<Uint8Array> {
  for (let attempts = 1; ; attempts += 1) {
    const opened = await connections.openStream(call.url, requestHeaders(call), call);
    passGate(opened, call);
    const outcome = yield* new GrpcExchange(opened, call).readMessages();
    if (outcome !== UNPROCESSED) return;
    if (attempts === MOST_ATTEMPTS) throw new OutboundInterruptedError('The server refuses to process the call');
  }
}

/**
 * Calls the `gate` function of a call before its message is sent. @throws the error of `gate`, after the stream is
 * closed
 */
function passGate({ stream }: OpenedStream, { gate }: GrpcCall): void {
  try {
    gate?.();
  } catch (error) {
    stream.on('error', () => undefined);
    stream.close(constants.NGHTTP2_CANCEL);
    throw error;
  }
}

function requestHeaders({ path, metadata, deadlineMs }: GrpcCall): Record<string, string> {
  return {
    ...metadata,
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    'grpc-accept-encoding': 'identity',
    ...(deadlineMs !== undefined && Number.isFinite(deadlineMs) && { 'grpc-timeout': grpcTimeout(deadlineMs) }),
  };
}

/** Largest number in a `grpc-timeout` header, which has at most eight digits. */
const LONGEST_TIMEOUT = 99_999_999;

function grpcTimeout(milliseconds: number): string {
  const whole = Math.max(1, Math.ceil(milliseconds));
  return whole <= LONGEST_TIMEOUT ? `${whole}m` : `${Math.min(Math.ceil(whole / 1_000), LONGEST_TIMEOUT)}S`;
}

/** Exchange of a gRPC call on its HTTP/2 stream. */
class GrpcExchange {
  private readonly stream: ClientHttp2Stream;
  /** Resolves when the status has arrived, or the stream has closed. */
  private readonly ended: Promise<void>;
  private head: AnswerHead | undefined;
  private trailers: IncomingHttpHeaders | undefined;
  private failure: unknown;

  constructor(
    private readonly opened: OpenedStream,
    private readonly call: GrpcCall,
  ) {
    const { stream } = opened;
    this.stream = stream;
    this.ended = new Promise((resolve) => {
      stream.once('close', resolve);
      stream.on('response', (headers) => {
        this.head = headers;
        if (isWholeAnswer(headers)) resolve();
        if (headers[':status'] !== 200) this.cancelCall();
      });
      stream.on('trailers', (headers) => {
        this.trailers = headers;
        resolve();
      });
    });
    stream.on('error', (error) => (this.failure ??= error));
    call.signal?.addEventListener('abort', this.cancelCall, { once: true });
    if (call.signal?.aborted) this.cancelCall();
    else stream.end(frameMessage(call.message));
  }

  async *readMessages(): AsyncGenerator<Uint8Array, typeof UNPROCESSED | undefined> {
    try {
      yield* this.readFrames();
      await this.ended;
      return this.readOutcome();
    } finally {
      this.call.signal?.removeEventListener('abort', this.cancelCall);
      this.cancelCall();
    }
  }

  private async *readFrames(): AsyncGenerator<Uint8Array> {
    const { alive, countRead, setPending, maxBytes } = this.call;
    const frames = new MessageFrames(maxBytes);
    setPending?.(0);
    const pieces = this.stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    for (let next = await this.nextPiece(pieces); next; next = await this.nextPiece(pieces)) {
      if (this.requireGrpc() === undefined) return;
      alive?.();
      const room = countRead?.(next.byteLength);
      if (room) await room;
      for (const message of frames.addPiece(next)) {
        setPending?.(frames.pending);
        yield message;
      }
    }
  }

  /** Returns the next piece of the answer; `undefined` after the last, also if the stream broke. */
  private async nextPiece(pieces: AsyncIterator<Buffer>): Promise<Buffer | undefined> {
    try {
      const next = await pieces.next();
      return next.done ? undefined : next.value;
    } catch (error) {
      this.failure ??= error;
      return undefined;
    }
  }

  /**
   * Returns the head of the answer; `undefined` without a head, or for another HTTP status than 200.
   * @throws InvalidProtocolValue if the content type is not a content type of gRPC
   */
  private requireGrpc(): AnswerHead | undefined {
    const { head } = this;
    if (head === undefined || head[':status'] !== 200) return undefined;
    if (!String(head['content-type'] ?? '').startsWith('application/grpc'))
      throw new InvalidProtocolValue('it is not gRPC');
    return head;
  }

  /**
   * Reads how the call ended: `undefined` for status OK, UNPROCESSED if the server has certainly not processed it.
   * @throws an error for every other end
   */
  private readOutcome(): typeof UNPROCESSED | undefined {
    const { head, call, stream } = this;
    call.signal?.throwIfAborted();
    if (head === undefined && this.opened.isUnprocessed()) return UNPROCESSED;
    const http = head?.[':status'];
    if (http !== undefined && http !== 200) throw new GrpcHttpError(http, textOf(head?.['retry-after']));
    const ending = this.trailers ?? this.requireGrpc();
    const status = textOf(ending?.['grpc-status']);
    if (ending === undefined || status === undefined) throw brokenStream(stream, this.failure);
    if (status !== OK) throw statusError(status, ending);
    return undefined;
  }

  private readonly cancelCall = (): void => {
    const { stream } = this;
    if (!stream.closed && !stream.destroyed) stream.close(constants.NGHTTP2_CANCEL);
    stream.destroy();
  };
}

/**
 * True if no status follows the head of an answer: the head itself contains the status ("Trailers-Only"), or the
 * answer is not gRPC.
 */
function isWholeAnswer(head: AnswerHead): boolean {
  return head['grpc-status'] !== undefined || head[':status'] !== 200;
}

function brokenStream({ rstCode }: ClientHttp2Stream, cause: unknown): Error {
  if (rstCode === constants.NGHTTP2_ENHANCE_YOUR_CALM)
    return new GrpcStatusError(RESOURCE_EXHAUSTED, 'the server asks for fewer calls', undefined, {});
  return new OutboundInterruptedError(`The stream broke (HTTP/2 code ${rstCode})`, { cause });
}

const UNKNOWN = 2;
const DETAILS = 'grpc-status-details-bin';

function statusError(status: string, trailers: IncomingHttpHeaders): GrpcStatusError {
  const code = /^\d{1,2}$/.test(status) ? Number(status) : UNKNOWN;
  const details = textOf(trailers[DETAILS]);
  const bytes = details === undefined ? undefined : Buffer.from(details, 'base64');
  return new GrpcStatusError(code, percentDecoded(textOf(trailers['grpc-message']) ?? ''), bytes, trailers);
}

/** Decodes the percent-encoding of `grpc-message`; a text that is not encoded as it should be is returned unchanged. */
function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function textOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

/** Number of bytes before each message: a flag for compression, and the length of the message. */
const PREFIX_BYTES = 5;

function frameMessage(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(PREFIX_BYTES + message.byteLength);
  frame.writeUInt8(0, 0);
  frame.writeUInt32BE(message.byteLength, 1);
  frame.set(message, PREFIX_BYTES);
  return frame;
}

/** Splits the pieces of an answer into its messages. */
class MessageFrames {
  private pieces: Buffer[] = [];
  /** Number of bytes that are not part of a complete message yet. */
  pending = 0;

  constructor(private readonly maxBytes: number) {}

  /**
   * Adds a piece and yields the messages that it completes.
   * @throws OutboundTooLongError for a message beyond the limit; InvalidProtocolValue for a compressed message
   */
  *addPiece(piece: Buffer): Generator<Uint8Array> {
    this.pieces.push(piece);
    this.pending += piece.byteLength;
    for (let length = this.nextLength(); length !== undefined; length = this.nextLength()) {
      const message = this.takeBytes(PREFIX_BYTES + length).subarray(PREFIX_BYTES);
      yield message;
    }
  }

  /** Returns the length of the next message if the message is complete. */
  private nextLength(): number | undefined {
    if (this.pending < PREFIX_BYTES) return undefined;
    if (this.pieces[0]!.byteLength < PREFIX_BYTES) this.pieces = [Buffer.concat(this.pieces)];
    const first = this.pieces[0]!;
    if (first.readUInt8(0) !== 0) throw new InvalidProtocolValue('its messages are compressed');
    const length = first.readUInt32BE(1);
    if (length > this.maxBytes) throw new OutboundTooLongError(this.maxBytes);
    return this.pending >= PREFIX_BYTES + length ? length : undefined;
  }

  private takeBytes(bytes: number): Buffer {
    const all = this.pieces.length === 1 ? this.pieces[0]! : Buffer.concat(this.pieces);
    this.pending -= bytes;
    this.pieces = this.pending === 0 ? [] : [all.subarray(bytes)];
    return all.subarray(0, bytes);
  }
}
