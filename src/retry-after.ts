import type { FastifyInstance } from 'fastify';

/** Seconds after which a database failover, or the start or stop of a replica, is over. */
const SECONDS = '2';

/** Adds `Retry-After` to every 503 that has none (RFC 9110, section 10.2.3). */
export function addRetryAfter(fastify: FastifyInstance): void {
  fastify.addHook('onSend', (_request, reply, _payload, done) => {
    if (reply.statusCode === 503 && !reply.hasHeader('retry-after')) void reply.header('retry-after', SECONDS);
    done();
  });
}
