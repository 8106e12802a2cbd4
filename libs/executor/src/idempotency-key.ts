import { invalidParams } from '#libs/protocol';

const KEY = /^[\x21-\x7e]{1,255}$/;

/**
 * The value of an `Idempotency-Key` header.
 * @throws A2AError INVALID_PARAMS unless it is 1 to 255 visible ASCII characters
 */
export function readIdempotencyKey(header: string | string[]): string {
  if (typeof header === 'string' && KEY.test(header)) return header;
  throw invalidParams({ field: 'Idempotency-Key', description: 'must be 1 to 255 visible ASCII characters' });
}
