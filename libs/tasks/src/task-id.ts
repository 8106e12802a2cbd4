import { randomDigits } from '#libs/protocol';

const TWO_TO_16 = 65_536;
const BYTES = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
/** Upper 32 bits of the last time, and their text. */
let [upper, beginning] = [Number.NaN, ''];

/**
 * Returns a lower bound for the ids of Tasks that Parley creates at that time or later. It is greater than the ids of
 * earlier Tasks.
 */
export function firstTaskIdOf(time: Date): string {
  const hex = time.getTime().toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
}

/** Returns a UUIDv7 (RFC 9562). Ids that are created in sequence are adjacent in an index. */
export function newTaskId(): string {
  const now = Date.now();
  const lower = now % TWO_TO_16;
  if (now - lower !== upper) [upper, beginning] = [now - lower, firstTaskIdOf(new Date(now)).slice(0, 9)];
  const random = randomDigits(19);
  const variant = '89ab'.charAt(random.charCodeAt(18) & 3);
  return `${beginning}${BYTES[lower >> 8]!}${BYTES[lower & 255]!}-7${random.slice(0, 3)}-${variant}${random.slice(3, 6)}-${random.slice(6, 18)}`;
}
