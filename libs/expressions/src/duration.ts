/** What a duration looks like. */
export const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/;

/** A year, in milliseconds: what nothing in a definition may exceed. */
export const LONGEST_DURATION = 365 * 86_400_000;

const MILLISECONDS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The last moment that a date can be. */
const LAST = 8.64e15;

/** `500ms`, `1.5s`, `2m`, `48h`, `7d` in milliseconds; `undefined` for what is no duration. */
export function durationOf(text: unknown): number | undefined {
  const [, number, unit] = (typeof text === 'string' && DURATION.exec(text)) || [];
  return number === undefined ? undefined : Number(number) * (MILLISECONDS[unit ?? ''] ?? 0);
}

/** So many milliseconds after a moment, however many those are. */
export function later(moment: Date, duration: number): Date {
  return new Date(Math.min(moment.getTime() + duration, LAST));
}
