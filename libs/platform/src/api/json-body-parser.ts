import type { FastifyInstance, FastifyRequest } from 'fastify';
import { hasMoreMembers, tooManyMembers } from './json-members.js';
import { malformed } from './problem.js';

type Done = (error: Error | null, body?: unknown) => void;

/**
 * A parser of JSON bodies that refuses one with too many members before it is parsed. Else it is Fastify's own.
 * @throws ProblemError 400, by its callback
 */
export function jsonBodyParser(
  fastify: FastifyInstance,
  limit: number,
): (request: FastifyRequest, body: Buffer, done: Done) => void {
  const parse = fastify.getDefaultJsonParser('error', 'error');
  return (request, body, done) => {
    const text = body.toString();
    if (hasMoreMembers(text, limit)) done(malformed({ path: '', detail: `the body ${tooManyMembers(limit)}` }));
    else void parse(request, text, done);
  };
}
