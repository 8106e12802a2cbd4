import { constants, type ServerHttp2Stream } from 'node:http2';
import type { ServerInterceptingCallInterface } from '@grpc/grpc-js';
import type { PacedReader, ReaderPace } from '#libs/http';

/** Bytes that are handed to HTTP/2 at once: it tells of a write when all of it has left, and of nothing before. */
const PIECE = 64 * 1024;

type Written = (error?: Error | null) => void;
type AnswerStream = Pick<ServerHttp2Stream, 'on' | 'once' | 'off' | 'write' | 'close' | 'closed' | 'destroyed'>;

/**
 * The answer of one call, as far as it has left. grpc-js writes a message in one piece and tells of nothing until all of
 * it has gone, which for a reader that opens no window is never; this writes it piece by piece, so that its pace is known.
 *
 * - Watched from its creation until its stream closes.
 * - A reader below the minimum rate has its stream reset with ENHANCE_YOUR_CALM, which clients of gRPC report as
 *   RESOURCE_EXHAUSTED. A connection that does not even take that is cut by itself (GrpcConnections).
 */
export class GrpcAnswer implements PacedReader {
  private waiting = 0;
  private taken = 0;
  private ended = false;
  /** True if all that was written has left since the last look. */
  private keptUp = true;

  private constructor(
    private readonly stream: AnswerStream,
    private readonly writeOnce: (chunk: Buffer, written: Written) => boolean,
  ) {}

  /** Watches the answer of a call; to be called before anything is written. */
  static of(call: ServerInterceptingCallInterface, pace: ReaderPace): GrpcAnswer {
    const stream = streamOf(call);
    const answer = new GrpcAnswer(stream, stream.write.bind(stream));
    stream.write = answer.write.bind(answer) as AnswerStream['write'];
    stream.once('close', pace.watch(answer));
    return answer;
  }

  /** Calls back, once, when the stream has closed and holds nothing. @returns false where it has closed already */
  whenClosed(done: () => void): boolean {
    const { stream } = this;
    if (stream.closed || stream.destroyed) return false;
    stream.once('close', done);
    return true;
  }

  /** The status is on its way; what is left is the reader's to take. */
  end(): void {
    this.ended = true;
  }

  /**
   * Tells a caller that has its answer to stop sending (RFC 9113, section 8.1): else what follows would be taken, and the
   * stream stay open, for as long as the caller likes.
   */
  stopReading(): void {
    this.stream.close(constants.NGHTTP2_NO_ERROR);
  }

  /** A reader that has taken everything since the last look keeps up, however little that was. */
  hasPending(): boolean {
    const { keptUp } = this;
    this.keptUp = this.waiting === 0;
    return this.ended || (this.waiting > 0 && !keptUp);
  }

  bytesTaken(): number {
    return this.taken;
  }

  cut(): void {
    this.stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }

  private write(chunk: Buffer, written: Written): boolean {
    this.waiting += chunk.length;
    return this.writeFrom(chunk, 0, (error) => {
      this.waiting -= chunk.length;
      this.keptUp ||= this.waiting === 0;
      written(error);
    });
  }

  private writeFrom(chunk: Buffer, start: number, written: Written): boolean {
    const piece = chunk.length <= PIECE ? chunk : chunk.subarray(start, start + PIECE);
    const end = start + piece.length;
    return this.writeOnce(piece, (error) => {
      if (!error) this.taken += piece.length;
      if (error || end >= chunk.length) written(error);
      else this.writeFrom(chunk, end, written);
    });
  }
}

/** The HTTP/2 stream of a call, which grpc-js keeps to itself. */
export function streamOf(call: ServerInterceptingCallInterface): AnswerStream {
  const { stream } = call as { stream?: AnswerStream };
  if (!stream) throw new Error('This version of grpc-js keeps the stream of a call elsewhere');
  return stream;
}
