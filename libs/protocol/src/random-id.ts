import { randomFillSync } from 'node:crypto';

const POOL = Buffer.allocUnsafe(4096);
/** Pool as hexadecimal digits, and the number of digits used. */
let [digits, used] = ['', 0];

/** Returns `count` (at most 64) random hexadecimal digits from a cryptographic source. */
export function randomDigits(count: number): string {
  if (used + count > digits.length) [digits, used] = [randomFillSync(POOL).toString('hex'), 0];
  used += count;
  return digits.slice(used - count, used);
}

/** Creates a UUIDv4 (RFC 9562) from the same source as `crypto.randomUUID`, at half its cost. */
export function randomId(): string {
  const random = randomDigits(31);
  const variant = '89ab'.charAt(random.charCodeAt(30) & 3);
  return `${random.slice(0, 8)}-${random.slice(8, 12)}-4${random.slice(12, 15)}-${variant}${random.slice(15, 18)}-${random.slice(18, 30)}`;
}
