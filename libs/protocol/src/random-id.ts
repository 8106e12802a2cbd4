import { randomFillSync } from 'node:crypto';

const POOL = Buffer.allocUnsafe(4096);
/** It as hexadecimal digits, and how many of them are used up. */
let [digits, used] = ['', 0];

/** So many random hexadecimal digits, at most 64, of a cryptographic source. */
export function randomDigits(count: number): string {
  if (used + count > digits.length) [digits, used] = [randomFillSync(POOL).toString('hex'), 0];
  used += count;
  return digits.slice(used - count, used);
}

/** A UUIDv4 (RFC 9562), of the same source as those of `crypto.randomUUID` and with half of its instructions. */
export function randomId(): string {
  const random = randomDigits(31);
  const variant = '89ab'.charAt(random.charCodeAt(30) & 3);
  return `${random.slice(0, 8)}-${random.slice(8, 12)}-4${random.slice(12, 15)}-${variant}${random.slice(15, 18)}-${random.slice(18, 30)}`;
}
