import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { malformedRequest } from '../problems/problem.js';

/** Position from which a reader resumes a stream. */
export interface StreamCursor {
  /** Number of the last event that the reader has seen; 0: none. */
  after: number;
  /** Name of the field it was sent in: `Last-Event-ID` or `since`. */
  field: string;
}

/** Handler parameter with the cursor of its reader (`readCursor`). */
export const Cursor = createParamDecorator((_: unknown, context: ExecutionContext): StreamCursor => {
  const { headers, query } = context.switchToHttp().getRequest<FastifyRequest>();
  return readCursor(headers, query as Record<string, unknown>);
});

/**
 * Reads the cursor. `Last-Event-ID`, sent by a reconnecting reader, takes precedence over `?since=`, which stays in the
 * URL; 0 without either.
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
  throw malformedRequest({ path: field, detail: 'must be the number of an event' });
}
