import { randomUUID } from 'node:crypto';
import { derivedId, isJsonObject, type JsonValue } from '#libs/protocol';
import type { CallContext } from '#libs/executor';
import { idempotencyKeyOf } from '../extensions.js';

/**
 * The id of a Message that was sent without one: a new one, or under an `Idempotency-Key` the one that follows from the
 * caller and its key, so that the same request sent again is the same Message, at any replica.
 * @param metadata the Message's, in which the key may be too
 * @throws A2AError INVALID_PARAMS where what stands for the key is none
 */
export function messageIdOf(call: CallContext, metadata: JsonValue | undefined): string {
  const key = idempotencyKeyOf({ message: isJsonObject(metadata) ? { metadata } : {} }, call);
  if (key === undefined) return randomUUID();
  const { tenant, owner } = call.scope;
  return derivedId('message', tenant, owner, key);
}
