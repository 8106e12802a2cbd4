import { type Readable, Transform, type TransformCallback } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { STREAMED_BODY_BYTES, streamsBody } from '#libs/http';
import type { InFlight, InFlightRefusal } from '#libs/service';
import { ArrivingBody } from './arriving-body.js';
import { setRetryAfter } from './caller-limits.js';
import { inFlightError } from './in-flight-error.js';
import type { RefusedBodies } from './refused-bodies.js';
import { scopeOf } from './request-caller.js';

/**
 * Refuses requests with a body, before any of it is read, while too much is in flight (see InFlight). An admitted body
 * counts until its request is answered. A body that its handler reads as a stream counts as the part in memory. Call it
 * after `guardRoutes`, which identifies the caller.
 */
export function admitBodies(
  fastify: FastifyInstance,
  inFlight: InFlight,
  bodyLimit: number,
  refused: RefusedBodies,
): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    const bytes = streamsBody(request) ? STREAMED_BODY_BYTES : Number(request.headers['content-length'] ?? 0);
    // A body that is too large is not kept.
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
      // An unread rest would block the connection's next request.
      (payload as Readable).unpipe(counted).resume();
    });
    counted.once('error', (error) => setRetryAfterOf(error, reply));
    // If the caller disconnects, reading must end too.
    payload.once('error', (error) => counted.destroy(error));
    done(null, (payload as Readable).pipe(counted));
  });
}

/** True if the caller disconnected during authentication: the end of the request would not be reported. */
function isGone({ raw }: FastifyRequest): boolean {
  return raw.socket.destroyed;
}

/** Sets the error's `Retry-After` header, and returns the error. */
function setRetryAfterOf(error: Error, reply: FastifyReply): Error {
  setRetryAfter(error, reply);
  return error;
}

/**
 * Passes a body on while it is admitted. The rest of a refused body is read and dropped before the refusal is reported:
 * a caller that is still sending would see only a broken connection.
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
