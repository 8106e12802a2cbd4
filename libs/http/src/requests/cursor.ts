import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { malformed } from '../problems/problem.js';

/** Where the reader of a stream wants to go on. */
export interface StreamCursor {
  /** The number of the last event that it has seen; 0: none. */
  after: number;
  /** What it was sent as: `Last-Event-ID` or `since`. */
  field: string;
}

/** A handler's parameter: the cursor of its reader (`readCursor`). */
export const Cursor = createParamDecorator((_: unknown, context: ExecutionContext): StreamCursor => {
  const { headers, query } = context.switchToHttp().getRequest<FastifyRequest>();
  return readCursor(headers, query as Record<string, unknown>);
});

/**
 * `Last-Event-ID`, which a reader sends that comes back, goes before `?since=`, which is in its address for ever; 0
 * without either.
 * @throws ProblemError 400
 */
export function readCursor(headers: Record<string, unknown>, query: Record<string, unknown>): StreamCursor {
  const seen = headers['last-event-id'];
  if (seen !== undefined && seen !== '') return cursorOf('Last-Event-ID', seen);
  const { since } = query;
  return since === undefined ? { after: 0, field: 'since' } : cursorOf('since', since);
}

function cursorOf(field: string, value: unknown): StreamCursor {
  if (typeof value === 'string' && /^\d{1,15}$/.test(value)) return { after: Number(value), field };
  throw malformed({ path: field, detail: 'must be the number of an event' });
}
