const UNITS = ['bytes', 'KiB', 'MiB', 'GiB'];

/** Returns a number of bytes in the largest unit of which there is one, with one digit after the point. */
export function byteCount(bytes: number): string {
  let unit = 0;
  let count = bytes;
  while (count >= 1024 && unit < UNITS.length - 1) {
    count /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? count : count.toFixed(1)} ${UNITS[unit]}`;
}
