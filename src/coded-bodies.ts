import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { A2AError } from '#libs/protocol';

/**
 * Refuses compressed bodies without reading them: 415, with the accepted coding in `Accept-Encoding` (RFC 9110,
 * sections 12.5.3 and 15.5.16). A small compressed body can expand without limit.
 */
export function refuseCodedBodies(fastify: FastifyInstance): void {
  fastify.addHook('preParsing', ({ headers }, reply, payload, done) => {
    if (headers['content-encoding'] === undefined || !isCoded(headers)) return done(null, payload);
    void reply.header('accept-encoding', 'identity');
    const message = 'The request body must not be compressed: its Content-Encoding is not supported';
    done(new A2AError('INVALID_REQUEST', { message, detailReason: 'CONTENT_CODING_NOT_SUPPORTED', status: 415 }));
  });
}

function isCoded(headers: IncomingHttpHeaders): boolean {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  return hasBody && headers['content-encoding']?.trim().toLowerCase() !== 'identity';
}
