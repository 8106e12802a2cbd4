import { randomFillSync } from 'node:crypto';

const POOL = Buffer.allocUnsafe(10 * 256);
let used = POOL.length;

/** Not greater than the id of any Task that Parley made at that time or later, and greater than those made before. */
export function firstTaskIdOf(time: Date): string {
  const hex = time.getTime().toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
}

/** A UUIDv7 (RFC 9562): ids made one after the other lie side by side in an index. */
export function newTaskId(): string {
  if (used === POOL.length) {
    randomFillSync(POOL);
    used = 0;
  }
  const time = Date.now().toString(16).padStart(12, '0');
  const random = POOL.toString('hex', used, used + 10);
  used += 10;
  const variant = ((Number.parseInt(random[3] ?? '0', 16) & 3) | 8).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(0, 3)}-${variant}${random.slice(4, 7)}-${random.slice(7, 19)}`;
}
