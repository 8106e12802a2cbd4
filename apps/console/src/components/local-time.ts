const CLOCK = { hour: '2-digit', minute: '2-digit' } as const;
const DAY = { day: 'numeric', month: 'short' } as const;
// Made once: to make a format takes many times as long as to use it.
const MINUTES = new Intl.DateTimeFormat([], CLOCK);
const SECONDS = new Intl.DateTimeFormat([], { ...CLOCK, second: '2-digit' });
const DAY_OF_YEAR = new Intl.DateTimeFormat([], DAY);
const DAY_WITH_YEAR = new Intl.DateTimeFormat([], { ...DAY, year: 'numeric' });

/**
 * Formats a local time of day, with its date unless that is today.
 * @param at the time to format, in ISO 8601
 * @param now current time in epoch milliseconds
 * @param precision `seconds` to include them
 */
export function localTime(at: string, now: number, precision: 'minutes' | 'seconds' = 'minutes'): string {
  const date = new Date(at);
  const today = new Date(now);
  const time = (precision === 'seconds' ? SECONDS : MINUTES).format(date);
  const isThisYear = date.getFullYear() === today.getFullYear();
  if (isThisYear && date.getMonth() === today.getMonth() && date.getDate() === today.getDate()) return time;
  return `${(isThisYear ? DAY_OF_YEAR : DAY_WITH_YEAR).format(date)}, ${time}`;
}
