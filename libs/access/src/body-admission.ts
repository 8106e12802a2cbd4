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
 * Refuses a request with a body, before any of it is read, where too much is in flight already (see InFlight); what is let
 * in counts until it was answered. A body that its handler reads as a stream counts as what of it is in memory at a time.
 * To be called after `guardRoutes`, which says whose request it is.
 */
export function admitBodies(
  fastify: FastifyInstance,
  inFlight: InFlight,
  bodyLimit: number,
  refused: RefusedBodies,
): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    const bytes = streamsBody(request) ? STREAMED_BODY_BYTES : Number(request.headers['content-length'] ?? 0);
    // Nothing is kept of a body that is too large.
    if (!(bytes > 0 && (bytes <= bodyLimit || streamsBody(request))) || isGone(request)) return done();
    const entered = inFlight.enter(scopeOf(request.raw), bytes);
    if (typeof entered === 'string') {
      refused.drop(request.raw);
      return done(setRetryAfterOf(inFlightError(entered), reply));
    }
    reply.raw.once('close', entered);
    done();
  });
  fastify.addHook('preParsing', (request, reply, payload, done) => {
    const isWhole = request.headers['transfer-encoding'] === undefined || streamsBody(request);
    if (isWhole || isGone(request)) return done(null, payload);
    const body = ArrivingBody.enter(inFlight, scopeOf(request.raw), bodyLimit);
    if (typeof body === 'string') return done(setRetryAfterOf(inFlightError(body), reply));
    const counted = new CountedBody(body, bodyLimit);
    reply.raw.once('close', () => {
      body.release();
      // Where nobody read it, the rest is in the way of the connection's next request.
      (payload as Readable).unpipe(counted).resume();
    });
    counted.once('error', (error) => setRetryAfterOf(error, reply));
    // A caller that breaks off ends what is read of it, too.
    payload.once('error', (error) => counted.destroy(error));
    done(null, (payload as Readable).pipe(counted));
  });
}

/** Whether the caller left while it was found out who it is: nobody is told any more when the request is over. */
function isGone({ raw }: FastifyRequest): boolean {
  return raw.socket.destroyed;
}

/** The error, with its seconds to wait in the answer's head. */
function setRetryAfterOf(error: Error, reply: FastifyReply): Error {
  setRetryAfter(error, reply);
  return error;
}

/**
 * Passes a body on as long as it is let in. What is left of one that is not any more is read and dropped before that is
 * told: a caller that is still sending does not see an answer, only a connection that broke.
 */
class CountedBody extends Transform {
  /** Fastify compares it with the limit of a body. */
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
    this.refusal ??= this.body.take(chunk.length);
    if (this.refusal === undefined) return done(null, chunk);
    return this.receivedEncodedLength > this.limit ? this._flush(done) : done();
  }

  override _flush(done: TransformCallback): void {
    this.body.complete();
    done(this.refusal ? inFlightError(this.refusal) : null);
  }
}
