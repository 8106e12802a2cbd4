import type { FastifyReply } from 'fastify';
import { retryAfter } from '#libs/access';
import type { A2AError } from '#libs/protocol';

/** Says in the head of an answer when a refused call may be tried again, where the refusal says so. */
export function tellWhenAgain(error: A2AError, reply: FastifyReply): void {
  const seconds = retryAfter(error);
  if (seconds !== undefined) reply.header('retry-after', seconds);
}
