const RFC_3339 =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|(?<sign>[+-])(?<hours>\d\d):(?<minutes>\d\d))$/;
const MINUTE_MS = 60_000;

/**
 * Parses an RFC 3339 timestamp, to the millisecond. Returns `undefined` for any other text, for a nonexistent date or
 * time, and outside the years 1 to 9999, the range of google.protobuf.Timestamp. Leap seconds are rejected.
 */
export function readTimestamp(text: string): Date | undefined {
  const match = RFC_3339.exec(text);
  if (!match) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map(Number);
  const { sign, hours = 0, minutes = 0 } = match.groups ?? {};
  if (hour > 23 || minute > 59 || second > 59 || Number(hours) > 23 || Number(minutes) > 59) return undefined;
  // Date.UTC maps years below 100 to 1900 and later.
  const time = new Date(0);
  time.setUTCFullYear(year, month - 1, day);
  // Date wraps a nonexistent day into the next month.
  if (time.getUTCMonth() !== month - 1 || time.getUTCDate() !== day) return undefined;
  time.setUTCHours(hour, minute, second, Number((match[7] ?? '').padEnd(3, '0').slice(0, 3)));
  const offset = (Number(hours) * 60 + Number(minutes)) * MINUTE_MS;
  time.setTime(time.getTime() - (sign === '-' ? -offset : offset));
  const written = time.getUTCFullYear();
  return written >= 1 && written <= 9999 ? time : undefined;
}
