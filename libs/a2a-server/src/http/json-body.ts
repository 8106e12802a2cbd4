import type { FastifyInstance } from 'fastify';
import { A2AError } from '#libs/protocol';

/** A caller may name the protocol's own type or plain JSON on every binding. */
const JSON_TYPES = ['application/json', 'application/a2a+json'];

/**
 * Makes a scope read JSON and nothing else: a bad text is PARSE_ERROR, an empty one `undefined`, another content type
 * is refused by Fastify with 415.
 */
export function acceptJsonOnly(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(JSON_TYPES, { parseAs: 'string' }, (_request, body, done) => {
    try {
      done(null, body === '' ? undefined : JSON.parse(body as string));
    } catch (error) {
      done(new A2AError('PARSE_ERROR', { cause: error }));
    }
  });
}
