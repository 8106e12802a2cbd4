import type { FastifyInstance } from 'fastify';

/** A database that is replaced, and a replica that starts or stops, are back within seconds. */
const SECONDS = '2';

/** Tells with every 503, whatever it is for, when to come back (RFC 9110, section 10.2.3), unless it says so itself. */
export function addRetryAfter(fastify: FastifyInstance): void {
  fastify.addHook('onSend', (_request, reply, _payload, done) => {
    if (reply.statusCode === 503 && !reply.hasHeader('retry-after')) void reply.header('retry-after', SECONDS);
    done();
  });
}
