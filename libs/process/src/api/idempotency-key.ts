import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { readIdempotencyKey } from '#libs/executor';
import type { FastifyRequest } from 'fastify';

/**
 * Parameter decorator: the `Idempotency-Key` of a request, if any. @throws A2AError INVALID_PARAMS if it is malformed
 */
export const IdempotencyKey = createParamDecorator((_: unknown, context: ExecutionContext): string | undefined => {
  const key = context.switchToHttp().getRequest<FastifyRequest>().headers['idempotency-key'];
  return key === undefined ? undefined : readIdempotencyKey(key);
});
