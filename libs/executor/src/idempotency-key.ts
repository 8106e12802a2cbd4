import { invalidParams } from '#libs/protocol';

const KEY = /^[\x21-\x7e]{1,255}$/;

/**
 * The value of an `Idempotency-Key` header, or of another field that stands for it.
 * @throws A2AError INVALID_PARAMS unless it is 1 to 255 visible ASCII characters
 */
export function readIdempotencyKey(value: unknown, field = 'Idempotency-Key'): string {
  if (typeof value === 'string' && KEY.test(value)) return value;
  throw invalidParams({ field, description: 'must be 1 to 255 visible ASCII characters' });
}
