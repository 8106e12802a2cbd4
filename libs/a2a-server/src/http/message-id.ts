import { randomUUID } from 'node:crypto';
import { derivedId, isJsonObject, type JsonValue } from '#libs/protocol';
import type { CallContext } from '#libs/executor';
import { idempotencyKeyOf } from '../extensions.js';

/**
 * Returns the id for a Message sent without one: a new id, or under an `Idempotency-Key` one derived from the caller
 * and the key. A repeated request is then the same Message at any replica.
 * @param metadata the Message's, which may contain the key
 * @throws A2AError INVALID_PARAMS for an invalid key
 */
export function messageIdOf(call: CallContext, metadata: JsonValue | undefined): string {
  const key = idempotencyKeyOf({ message: isJsonObject(metadata) ? { metadata } : {} }, call);
  if (key === undefined) return randomUUID();
  const { tenant, owner } = call.scope;
  return derivedId('message', tenant, owner, key);
}
