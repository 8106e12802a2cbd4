const STEPS: readonly [number, Intl.RelativeTimeFormatUnit][] = [
  [60, 'second'],
  [60, 'minute'],
  [24, 'hour'],
  [30, 'day'],
];
const WORDS = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const DATE = new Intl.DateTimeFormat('en', { year: 'numeric', month: 'short', day: 'numeric' });

/**
 * Formats the time since a moment in words: seconds to days, and the date beyond a month.
 * @param at the moment, in epoch milliseconds, as is `now`
 */
export function timeAgo(at: number, now: number): string {
  let value = Math.min(0, Math.round((at - now) / 1000));
  for (const [size, unit] of STEPS) {
    if (-value < size) return WORDS.format(value, unit);
    value = Math.trunc(value / size);
  }
  return DATE.format(at);
}

/** Formats a duration in milliseconds: `840 ms`, `3.2 s`, `2 min 05 s`, `1 h 02 min`. */
export function formatDuration(milliseconds: number): string {
  const span = Math.max(0, milliseconds);
  if (span < 1000) return `${Math.round(span)} ms`;
  if (span < 60_000) return `${(Math.floor(span / 100) / 10).toFixed(1)} s`;
  const seconds = Math.floor(span / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`;
  return `${Math.floor(seconds / 3600)} h ${String(Math.floor((seconds % 3600) / 60)).padStart(2, '0')} min`;
}
