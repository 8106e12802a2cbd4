import type { FastifyInstance } from 'fastify';
import helmet from 'helmet';

const OF_AGENTS = /^\/a2a(?=[/?]|$)/;

/**
 * Gives every answer the headers that a browser heeds, but those below `/a2a`, which no browser renders: their headers
 * are the protocol's alone.
 */
export function setBrowserHeaders(fastify: FastifyInstance): void {
  // Whether a name is served with TLS alone is known to the proxy that terminates it.
  const set = helmet({ contentSecurityPolicy: false, strictTransportSecurity: false });
  fastify.addHook('onRequest', ({ raw }, reply, done) => {
    if (OF_AGENTS.test(raw.url ?? '')) done();
    else set(raw, reply.raw, done as (error?: unknown) => void);
  });
}
