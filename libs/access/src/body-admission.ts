import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Readable, Transform, type TransformCallback } from 'node:stream';
import { STREAMED_BODY_BYTES, streamsBody } from '#libs/http-server';
import { A2AError } from '#libs/protocol';
import { InFlight, type InFlightOwner, type InFlightRefusal, SMALL_REQUEST } from '#libs/service';
import { setRetryAfter } from './caller-limits.js';
import { scopeOf } from './caller.js';
import type { RefusedBodies } from './refused-bodies.js';

/**
 * Counts the bytes of an arriving body without a declared length toward the limits of the bytes of all bodies in memory
 * (see InFlight).
 *
 * - At first the body counts SMALL_REQUEST bytes. Once more bytes have arrived, it counts as many bytes as a body may
 *   have at most (`largest`).
 * - It counts these bytes before they arrive. If a body counted only the bytes that have arrived, concurrent bodies
 *   could all begin, and then all be refused half-way.
 * - A complete body counts with its real size.
 */
export class ArrivingBody {
  private readonly account: string;
  private arrived = 0;
  private counted = 0;
  private released = false;

  private constructor(
    private readonly inFlight: InFlight,
    whose: InFlightOwner,
    private readonly largest: number,
  ) {
    this.account = InFlight.accountOf(whose);
  }

  /**
   * Starts to count a body.
   * @param whose caller and tenant toward whose limits the body counts
   * @param largest maximum bytes of a body
   * @returns the body, which is now counted; its refusal if too many bytes of bodies are in memory already
   */
  static admitBody(inFlight: InFlight, whose: InFlightOwner, largest: number): ArrivingBody | InFlightRefusal {
    const body = new ArrivingBody(inFlight, whose, largest);
    return body.growCount(Math.min(SMALL_REQUEST, largest)) ?? body;
  }

  /**
   * Counts received bytes; returns the refusal if the bodies in memory then have too many bytes. After a refusal no
   * more of the body may be kept in memory.
   */
  acceptBytes(bytes: number): InFlightRefusal | undefined {
    this.arrived += bytes;
    return this.arrived > this.counted && this.counted < this.largest ? this.growCount(this.largest) : undefined;
  }

  /** Marks the body as complete: from now on it counts with its real size. */
  completeBody(): void {
    if (this.released || this.arrived >= this.counted) return;
    this.inFlight.addBytes(this.account, this.arrived - this.counted);
    this.counted = this.arrived;
  }

  /** Releases the counted bytes. Idempotent. */
  releaseBytes(): void {
    this.released = true;
    this.inFlight.addBytes(this.account, -this.counted);
    this.counted = 0;
  }

  private growCount(bytes: number): InFlightRefusal | undefined {
    if (this.released) return undefined;
    const refusal = this.inFlight.findRefusal(this.account, bytes, this.counted);
    if (refusal) {
      this.inFlight.countRefusal(refusal);
      return refusal;
    }
    this.inFlight.addBytes(this.account, bytes - this.counted);
    this.counted = bytes;
    return undefined;
  }
}

const RETRY_AFTER_SECONDS = '1';

/**
 * Returns the error for a request whose body would exceed a limit of bytes in memory: 429 at the limit of the caller
 * or its tenant, else 503, both with the seconds to wait.
 */
export function inFlightError(refusal: InFlightRefusal): A2AError {
  const metadata = { limit: 'in-flight', retryAfterSeconds: RETRY_AFTER_SECONDS };
  if (refusal !== 'service') {
    const whose = refusal === 'caller' ? 'yours' : 'your tenant';
    const message = `Too many bytes of ${whose} are in flight; try again later`;
    return new A2AError('RATE_LIMITED', { message, metadata, detailReason: 'RATE_LIMITED' });
  }
  const message = 'Too many bytes are in flight; try again later';
  return new A2AError('INTERNAL', { message, metadata, detailReason: 'OVERLOADED', status: 503 });
}

/**
 * Refuses requests with a body, before any of it is read, while the bodies in memory have too many bytes (see
 * InFlight). Call this function after `guardRoutes`, which identifies the caller.
 *
 * - An admitted body counts until its request is answered.
 * - A body that its handler reads as a stream counts STREAMED_BODY_BYTES: no more of it is in memory at once.
 */
export function admitBodies(
  fastify: FastifyInstance,
  inFlight: InFlight,
  bodyLimit: number,
  refused: RefusedBodies,
): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    const bytes = streamsBody(request) ? STREAMED_BODY_BYTES : Number(request.headers['content-length'] ?? 0);
    // A body beyond the limit is not kept in memory, so it does not count.
    if (!(bytes > 0 && (bytes <= bodyLimit || streamsBody(request))) || isGone(request)) return done();
    const entered = inFlight.admitRequest(scopeOf(request.raw), bytes);
    if (typeof entered === 'string') {
      refused.dropBody(request.raw);
      return done(setRetryAfterOf(inFlightError(entered), reply));
    }
    reply.raw.once('close', entered);
    done();
  });
  fastify.addHook('preParsing', (request, reply, payload, done) => {
    const isWhole = request.headers['transfer-encoding'] === undefined || streamsBody(request);
    if (isWhole || isGone(request)) return done(null, payload);
    const body = ArrivingBody.admitBody(inFlight, scopeOf(request.raw), bodyLimit);
    if (typeof body === 'string') return done(setRetryAfterOf(inFlightError(body), reply));
    const counted = new CountedBody(body, bodyLimit);
    reply.raw.once('close', () => {
      body.releaseBytes();
      // An unread rest of the body would block the connection's next request.
      (payload as Readable).unpipe(counted).resume();
    });
    counted.once('error', (error) => setRetryAfterOf(error, reply));
    // If the caller disconnects, reading must end too.
    payload.once('error', (error) => counted.destroy(error));
    done(null, (payload as Readable).pipe(counted));
  });
}

/**
 * True if the caller disconnected during authentication. The response then emits no `close`, by which bytes are
 * otherwise released.
 */
function isGone({ raw }: FastifyRequest): boolean {
  return raw.socket.destroyed;
}

/** Sets the error's `Retry-After` header, and returns the error. */
function setRetryAfterOf(error: Error, reply: FastifyReply): Error {
  setRetryAfter(error, reply);
  return error;
}

/**
 * Passes a body on while ArrivingBody admits its bytes. Reads and drops the rest of a refused body before it reports
 * the refusal: a caller that is still sending would see only a broken connection.
 */
class CountedBody extends Transform {
  /** Bytes that Fastify compares with the body limit. */
  receivedEncodedLength = 0;
  private refusal: InFlightRefusal | undefined;

  constructor(
    private readonly body: ArrivingBody,
    private readonly limit: number,
  ) {
    super();
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.receivedEncodedLength += chunk.length;
    this.refusal ??= this.body.acceptBytes(chunk.length);
    if (this.refusal === undefined) return done(null, chunk);
    return this.receivedEncodedLength > this.limit ? this._flush(done) : done();
  }

  override _flush(done: TransformCallback): void {
    this.body.completeBody();
    done(this.refusal ? inFlightError(this.refusal) : null);
  }
}
