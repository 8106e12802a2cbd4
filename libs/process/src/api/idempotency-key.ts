import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { readIdempotencyKey } from '#libs/executor';
import type { FastifyRequest } from 'fastify';

/** The `Idempotency-Key` of a request, `undefined` without one. @throws A2AError INVALID_PARAMS for one that is none */
export const IdempotencyKey = createParamDecorator((_: unknown, context: ExecutionContext): string | undefined => {
  const key = context.switchToHttp().getRequest<FastifyRequest>().headers['idempotency-key'];
  return key === undefined ? undefined : readIdempotencyKey(key);
});
