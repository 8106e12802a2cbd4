/** Pattern of a duration, such as `500ms`, `1.5s` or `7d`. */
export const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/;

/** Longest duration in a definition: one year, in milliseconds. */
export const LONGEST_DURATION = 365 * 86_400_000;

const MILLISECONDS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Last moment that a `Date` can represent, in epoch milliseconds. */
const LAST = 8.64e15;

/** Returns the milliseconds of a duration (`500ms`, `1.5s`, `2m`, `48h`, `7d`), or `undefined` for any other value. */
export function parseDuration(text: unknown): number | undefined {
  const [, number, unit] = (typeof text === 'string' && DURATION.exec(text)) || [];
  return number === undefined ? undefined : Number(number) * (MILLISECONDS[unit ?? ''] ?? 0);
}

/** Returns the moment `duration` milliseconds later, at most the last moment that a `Date` can represent. */
export function addMilliseconds(moment: Date, duration: number): Date {
  return new Date(Math.min(moment.getTime() + duration, LAST));
}
