let [writtenAt, written] = [Number.NaN, ''];

/** The time as the specification has it (section 5.6.1): UTC, to the millisecond. Within one it is written once. */
export function timestampNow(): string {
  const now = Date.now();
  if (now !== writtenAt) [writtenAt, written] = [now, new Date(now).toISOString()];
  return written;
}
