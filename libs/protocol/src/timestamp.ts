let [writtenAt, written] = [Number.NaN, ''];
let time = new Date(Number.NaN);
/** Timestamp text up to the seconds, and the second it represents. */
let [second, beginning] = [Number.NaN, ''];

/**
 * Returns the current time as the specification formats it (section 5.6.1): UTC, to the millisecond. Formats once per
 * millisecond.
 */
export function timestampNow(): string {
  const now = Date.now();
  if (now === writtenAt) return written;
  const milliseconds = now % 1000;
  if (now - milliseconds !== second)
    [second, beginning] = [now - milliseconds, new Date(now).toISOString().slice(0, 20)];
  [writtenAt, written] = [now, `${beginning}${String(milliseconds).padStart(3, '0')}Z`];
  return written;
}

/**
 * Parses a timestamp. The last one formatted by this process need not be parsed. The Date is shared and must not be
 * changed.
 */
export function dateOfTimestamp(timestamp: string): Date {
  if (timestamp !== written) return new Date(timestamp);
  if (time.getTime() !== writtenAt) time = new Date(writtenAt);
  return time;
}
