import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { malformed } from '../problems/problem.js';

/** A handler's parameter: the number of the event after which the reader of a stream wants more (`readCursor`). */
export const Cursor = createParamDecorator((_: unknown, context: ExecutionContext): number => {
  const { headers, query } = context.switchToHttp().getRequest<FastifyRequest>();
  return readCursor(headers, query as Record<string, unknown>);
});

/**
 * `Last-Event-ID`, which a reader sends that comes back, goes before `?since=`, which is in its address for ever; 0
 * without either.
 * @throws ProblemError 400
 */
export function readCursor(headers: Record<string, unknown>, query: Record<string, unknown>): number {
  const seen = headers['last-event-id'];
  if (seen !== undefined && seen !== '') return sequenceOf('Last-Event-ID', seen);
  const { since } = query;
  return since === undefined ? 0 : sequenceOf('since', since);
}

function sequenceOf(path: string, value: unknown): number {
  if (typeof value === 'string' && /^\d{1,15}$/.test(value)) return Number(value);
  throw malformed({ path, detail: 'must be the number of an event' });
}
