import type { FastifyInstance } from 'fastify';

/**
 * Leaves `application/json` as the one type of bodies, also where nobody looks at them; everything else is 415. The types
 * of forms are those that a page of any origin can send without being asked first. To be called before routes are
 * registered, on a server that Nest gave no parsers.
 */
export function acceptJsonBodies(fastify: FastifyInstance): void {
  fastify.removeContentTypeParser('text/plain');
}
