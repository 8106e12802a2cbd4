import { finished, type Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { streamsBody } from '#libs/http';

/** What is still read of a body that is refused; whoever sends more is cut. */
const MOST_DRAINED = 64 * 1024 * 1024;
const LONGEST_MS = 10_000;

/**
 * A body that says it is too large is read to its end before it is refused: a caller that is still sending does not
 * see an answer, only a connection that broke. Nothing of it is kept. Streamed bodies have limits of their own.
 */
export function drainOversizedBodies(fastify: FastifyInstance, limit: number): void {
  fastify.addHook('preParsing', (request, _reply, payload, done) => {
    if (streamsBody(request)) return done(null, payload);
    const length = Number(request.headers['content-length']);
    if (!(length > limit && length <= MOST_DRAINED)) return done(null, payload);
    const signal = AbortSignal.timeout(LONGEST_MS);
    finished((payload as Readable).resume(), { signal, writable: false }, () => done(null, payload));
  });
}
