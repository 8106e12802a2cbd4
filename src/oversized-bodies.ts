import { finished, type Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { streamsBody } from '#libs/http';

/** Maximum bytes that are read of a refused body; a larger one closes the connection. */
const MOST_DRAINED = 64 * 1024 * 1024;
const LONGEST_MS = 10_000;

/**
 * Reads a body that declares an excessive length to its end before it is refused. A client that is still sending sees
 * no answer, only a broken connection. The bytes are dropped. Streamed bodies have their own limits.
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
