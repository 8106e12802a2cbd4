import type { FastifyInstance } from 'fastify';

/**
 * Removes the parser of `text/plain`, so that `application/json` is the only type of bodies, even where a body is
 * ignored; any other type is refused with 415. Pages of any origin can send the types of forms without a preflight
 * request. Call it before routes are registered, on a server without Nest's parsers.
 */
export function acceptJsonBodies(fastify: FastifyInstance): void {
  fastify.removeContentTypeParser('text/plain');
}
