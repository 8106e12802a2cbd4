/**
 * Formats a local time of day, with its date unless that is today.
 * @param at the time to format, in ISO 8601
 * @param now current time in epoch milliseconds
 * @param precision `seconds` to include them
 */
export function localTime(at: string, now: number, precision: 'minutes' | 'seconds' = 'minutes'): string {
  const date = new Date(at);
  const time = date.toLocaleTimeString([], {
    hour: '2-digit',
    minute: '2-digit',
    ...(precision === 'seconds' && { second: '2-digit' }),
  });
  if (date.toDateString() === new Date(now).toDateString()) return time;
  const sameYear = date.getFullYear() === new Date(now).getFullYear();
  const day = date.toLocaleDateString([], { day: 'numeric', month: 'short', ...(!sameYear && { year: 'numeric' }) });
  return `${day}, ${time}`;
}
