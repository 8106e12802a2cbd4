import type { FastifyInstance } from 'fastify';
import { hasMoreMembers } from '#libs/http';
import { A2AError } from '#libs/protocol';
import { tooManyMembersError } from '../validation/too-many-members.js';

/** A caller may name the protocol's own type or plain JSON on every binding. */
const JSON_TYPES = ['application/json', 'application/a2a+json'];

/**
 * Makes a scope read JSON and nothing else: a bad text is PARSE_ERROR, an empty one `undefined`, another content type
 * is refused by Fastify with 415. One with too many members is INVALID_REQUEST, before it is parsed.
 */
export function acceptJsonOnly(scope: FastifyInstance, mostMembers: number): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(JSON_TYPES, { parseAs: 'string' }, (_request, body, done) => {
    if (hasMoreMembers(body as string, mostMembers)) return done(tooManyMembersError(mostMembers));
    try {
      done(null, body === '' ? undefined : JSON.parse(body as string));
    } catch (error) {
      done(new A2AError('PARSE_ERROR', { cause: error }));
    }
  });
}
