import {
  Metadata,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  status,
} from '@grpc/grpc-js';
import { constants, type ServerHttp2Stream } from 'node:http2';
import type { PacedReader, ReaderPace } from '#libs/http-server';
import { A2AError } from '#libs/protocol';
import { type GrpcAccess, isPublicMethod } from './grpc-access.js';
import type { GrpcConnection, GrpcConnections } from './grpc-connections.js';
import { grpcError } from './grpc-status.js';
import { CallerVisit, type GrpcVisit, PublicVisit } from './grpc-visit.js';

/**
 * Maximum number of bytes that are passed to HTTP/2 at once: HTTP/2 reports a write only when all of its bytes are
 * sent.
 */
const PIECE = 64 * 1024;

type WriteCallback = (error?: Error | null) => void;
type AnswerStream = Pick<ServerHttp2Stream, 'on' | 'once' | 'off' | 'write' | 'close' | 'closed' | 'destroyed'>;

/**
 * Answer of one gRPC call, written in pieces so that the reader's rate is known. grpc-js would write a message in one
 * piece and report only when all of it has been sent, which never happens for a reader that opens no flow-control
 * window.
 *
 * - ReaderPace watches the answer from its creation until its stream closes.
 * - A reader below the minimum rate gets its stream reset with ENHANCE_YOUR_CALM, which gRPC clients report as
 *   RESOURCE_EXHAUSTED. A connection that does not accept even the reset is cut by GrpcConnections.
 */
class GrpcAnswer implements PacedReader {
  private waiting = 0;
  private taken = 0;
  private ended = false;
  /** True if there was a moment since the last call of `hasPending` at which all written output had been sent. */
  private keptUp = true;

  private constructor(
    private readonly stream: AnswerStream,
    private readonly writeOnce: (chunk: Buffer, written: WriteCallback) => boolean,
  ) {}

  /** Creates and watches the answer of a call. Call this method before anything is written. */
  static watchCall(call: ServerInterceptingCallInterface, pace: ReaderPace): GrpcAnswer {
    const stream = streamOf(call);
    const answer = new GrpcAnswer(stream, stream.write.bind(stream));
    stream.write = answer.writeChunk.bind(answer) as AnswerStream['write'];
    stream.once('close', pace.watchReader(answer));
    return answer;
  }

  /**
   * Registers a callback that is called once, when the stream has closed.
   * @returns false if the stream has already closed
   */
  whenClosed(done: () => void): boolean {
    const { stream } = this;
    if (stream.closed || stream.destroyed) return false;
    stream.once('close', done);
    return true;
  }

  /** Notes that the status has been sent. From then on the reader must take all output at the minimum rate. */
  markEnded(): void {
    this.ended = true;
  }

  /**
   * Asks the caller to stop sending, once its call has been answered (RFC 9113, section 8.1). Otherwise the caller
   * could keep the stream open by sending more data.
   */
  stopReading(): void {
    this.stream.close(constants.NGHTTP2_NO_ERROR);
  }

  /**
   * True if the status has been sent, or if output has waited for the reader all the time since the previous call of
   * this method. A reader that took all waiting output in between is fast enough, even if it was little.
   */
  hasPending(): boolean {
    const { keptUp } = this;
    this.keptUp = this.waiting === 0;
    return this.ended || (this.waiting > 0 && !keptUp);
  }

  bytesTaken(): number {
    return this.taken;
  }

  cutReader(): void {
    this.stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }

  private writeChunk(chunk: Buffer, written: WriteCallback): boolean {
    this.waiting += chunk.length;
    return this.writeFrom(chunk, 0, (error) => {
      this.waiting -= chunk.length;
      this.keptUp ||= this.waiting === 0;
      written(error);
    });
  }

  private writeFrom(chunk: Buffer, start: number, written: WriteCallback): boolean {
    const piece = chunk.length <= PIECE ? chunk : chunk.subarray(start, start + PIECE);
    const end = start + piece.length;
    return this.writeOnce(piece, (error) => {
      if (!error) this.taken += piece.length;
      if (error || end >= chunk.length) written(error);
      else this.writeFrom(chunk, end, written);
    });
  }
}

/** Returns the HTTP/2 stream of a call, which is an internal member of grpc-js. */
function streamOf(call: ServerInterceptingCallInterface): AnswerStream {
  const { stream } = call as { stream?: AnswerStream };
  if (!stream) throw new Error('This version of grpc-js keeps the stream of a call elsewhere');
  return stream;
}

const ACCEPT_ENCODING = 'grpc-accept-encoding';
const IDENTITY = 'identity';

/**
 * Returns the interceptor that rejects calls whose caller is unknown, may not call agents or is over a limit.
 *
 * - The check runs when the metadata has arrived; the message of a rejected call is not read.
 * - A call counts against limits until it is answered or canceled.
 * - Compressed messages are rejected, like compressed bodies over HTTP: they can expand to any size.
 */
export function grpcAuthGuard(access: GrpcAccess, pace: ReaderPace, connections: GrpcConnections): ServerInterceptor {
  return ({ path }, call) => {
    const answer = GrpcAnswer.watchCall(call, pace);
    const connection = connections.connectionOf(call.getPeer());
    const visit = isPublicMethod(path)
      ? new PublicVisit(access, connection, path)
      : new CallerVisit(access, connection, answer.whenClosed.bind(answer));
    return guardCall(call, visit, answer, connection);
  };
}

function guardCall(
  call: ServerInterceptingCallInterface,
  visit: GrpcVisit,
  answer: GrpcAnswer,
  connection: GrpcConnection,
): ServerInterceptingCall {
  const refuseCall = (failure: GrpcFailure): void => {
    visit.endVisit();
    answer.markEnded();
    call.sendStatus(failure);
    answer.stopReading();
    connection.countRefusal();
  };
  return new ServerInterceptingCall(call, {
    start: (next) =>
      next({
        onReceiveMetadata: (metadata, pass) => {
          visit.beginVisit(metadata).then(
            () => {
              if (isCompressed(call)) return refuseCall(compressedFailure());
              countMessage(call, visit, (error) => refuseCall(toGrpcFailure(error)));
              pass(metadata);
            },
            (error: unknown) => refuseCall(toGrpcFailure(error)),
          );
        },
        onReceiveHalfClose: (pass) => {
          visit.completeMessage();
          pass();
        },
        onCancel: () => visit.endVisit(),
      }),
    sendMetadata: (metadata, next) => {
      metadata.set(ACCEPT_ENCODING, IDENTITY);
      next(metadata);
    },
    sendStatus: (sent, next) => {
      visit.endVisit();
      answer.markEnded();
      next(sent);
    },
  });
}

type GrpcFailure = Parameters<ServerInterceptingCallInterface['sendStatus']>[0];

function toGrpcFailure(error: unknown): GrpcFailure {
  const { code, details, metadata } = grpcError(error);
  return { code: code ?? status.UNKNOWN, details: details ?? '', metadata };
}

/**
 * Creates the failure for compressed messages. The failure names the accepted encodings (gRPC specification,
 * "Compression").
 */
function compressedFailure(): GrpcFailure {
  const metadata = new Metadata();
  metadata.set(ACCEPT_ENCODING, IDENTITY);
  return { code: status.UNIMPLEMENTED, details: 'Messages must not be compressed (grpc-encoding)', metadata };
}

/**
 * True if the messages of a call may be compressed. grpc-js does not decompress a message without an announced
 * encoding, and removes the announcement from the metadata.
 */
function isCompressed(call: ServerInterceptingCallInterface): boolean {
  const { incomingEncoding } = call as { incomingEncoding?: string };
  return incomingEncoding !== IDENTITY;
}

/** Counts the bytes of a message as they arrive, and limits the time until the message is complete. */
function countMessage(call: ServerInterceptingCallInterface, visit: GrpcVisit, refuse: (error: unknown) => void): void {
  const stream = streamOf(call);
  visit.expectMessage(() =>
    refuse(new A2AError('INVALID_REQUEST', { message: 'The message did not come in time', status: 408 })),
  );
  const countChunk = (chunk: Buffer): void => {
    try {
      visit.countReceived(chunk.length);
    } catch (error) {
      stream.off('data', countChunk);
      refuse(error);
    }
  };
  stream.on('data', countChunk);
}
