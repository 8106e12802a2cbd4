import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { readCursor } from './query-parameters.js';

/** The number of the event after which the reader of a stream wants more: see `readCursor`. */
export const Cursor = createParamDecorator((_: unknown, context: ExecutionContext): number => {
  const { headers, query } = context.switchToHttp().getRequest<FastifyRequest>();
  return readCursor(headers, query as Record<string, unknown>);
});
