import type { FastifyInstance } from 'fastify';
import helmet from 'helmet';

const OF_AGENTS = /^\/a2a(?=[/?]|$)/;

/**
 * Adds the headers that browsers observe to every answer, except below `/a2a`, which no browser renders: those headers
 * belong to the protocol alone.
 */
export function setBrowserHeaders(fastify: FastifyInstance): void {
  // Only the proxy that terminates TLS knows whether a name is served with TLS alone.
  const set = helmet({ contentSecurityPolicy: false, strictTransportSecurity: false });
  fastify.addHook('onRequest', ({ raw }, reply, done) => {
    if (OF_AGENTS.test(raw.url ?? '')) done();
    else set(raw, reply.raw, done as (error?: unknown) => void);
  });
}
