import type { FastifyRequest } from 'fastify';
import { invalidParams } from '#libs/protocol';
import type { SubscriptionOptions } from '../task-subscription.js';

/**
 * Reads the last sequence that a returning reader has seen: the `Last-Event-ID` header, which event sources send
 * automatically, else `?since=`; empty without either.
 * @throws A2AError INVALID_PARAMS for an invalid sequence
 */
export function resumeCursor(request: FastifyRequest): SubscriptionOptions {
  const header = request.headers['last-event-id'];
  if (typeof header === 'string' && header !== '') return readSequence('Last-Event-ID', header);
  const { since } = request.query as Record<string, unknown>;
  return since === undefined || since === '' ? {} : readSequence('since', since);
}

function readSequence(field: string, value: unknown): SubscriptionOptions {
  if (typeof value === 'string' && /^\d{1,10}$/.test(value)) return { since: Number(value), sinceField: field };
  throw invalidParams({ field, description: 'must be a sequence number' });
}
