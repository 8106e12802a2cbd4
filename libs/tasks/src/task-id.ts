import { randomFillSync } from 'node:crypto';

const RANDOM = Buffer.allocUnsafe(10 * 256);
/** It as hexadecimal digits, and how many of them are in ids. */
let [digits, used] = ['', 0];
/** How the ids of one millisecond begin. */
let [begunAt, beginning] = [Number.NaN, ''];

/** Not greater than the id of any Task that Parley made at that time or later, and greater than those made before. */
export function firstTaskIdOf(time: Date): string {
  const hex = time.getTime().toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
}

/** A UUIDv7 (RFC 9562): ids made one after the other lie side by side in an index. */
export function newTaskId(): string {
  const now = Date.now();
  if (now !== begunAt) [begunAt, beginning] = [now, `${firstTaskIdOf(new Date(now))}-7`];
  if (used === digits.length) [digits, used] = [randomFillSync(RANDOM).toString('hex'), 0];
  const random = digits.slice(used, used + 20);
  used += 20;
  const variant = '89ab'.charAt(random.charCodeAt(3) & 3);
  return `${beginning}${random.slice(0, 3)}-${variant}${random.slice(4, 7)}-${random.slice(7, 19)}`;
}
