let [writtenAt, written] = [Number.NaN, ''];
let time = new Date(Number.NaN);
/** Up to the seconds, and which they are. */
let [second, beginning] = [Number.NaN, ''];

/** The time as the specification has it (section 5.6.1): UTC, to the millisecond. Within one it is written once. */
export function timestampNow(): string {
  const now = Date.now();
  if (now === writtenAt) return written;
  const milliseconds = now % 1000;
  if (now - milliseconds !== second)
    [second, beginning] = [now - milliseconds, new Date(now).toISOString().slice(0, 20)];
  [writtenAt, written] = [now, `${beginning}${String(milliseconds).padStart(3, '0')}Z`];
  return written;
}

/** When that is; what this process has written last need not be read. The Date is shared, and not to be changed. */
export function timeOf(timestamp: string): Date {
  if (timestamp !== written) return new Date(timestamp);
  if (time.getTime() !== writtenAt) time = new Date(writtenAt);
  return time;
}
