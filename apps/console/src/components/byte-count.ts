const UNITS = ['bytes', 'KiB', 'MiB', 'GiB'];

/** Formats a number of bytes in the largest unit that gives at least 1, with one digit after the point. */
export function byteCount(bytes: number): string {
  let unit = 0;
  let count = bytes;
  while (count >= 1024 && unit < UNITS.length - 1) {
    count /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? count : count.toFixed(1)} ${UNITS[unit]}`;
}
