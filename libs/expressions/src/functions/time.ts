import { type CelFunc, celFunc, celMethod, CelScalar, objectType } from '@bufbuild/cel';
import { create } from '@bufbuild/protobuf';
import { type Timestamp, timestampDate, timestampFromDate, TimestampSchema } from '@bufbuild/protobuf/wkt';
import { briefText, readTimestamp } from '#libs/protocol';
import { currentEvaluation } from '../evaluation.js';

const { INT, STRING } = CelScalar;
const TIMESTAMP = objectType(TimestampSchema);

const FIRST_SECOND = -62_135_596_800n;
const LAST_SECOND = 253_402_300_799n;
const STEPS_TO_MAKE_CLOCK = 5_000;
const STEPS_TO_READ_CLOCK = 200;
const OFFSET = /^([+-]?)(\d\d):(\d\d)$/;
const MINUTE = 60_000;
const DAY = 86_400_000;

/**
 * Functions that read a part of a date, by the name of the CEL function. `clock` is a Date whose UTC fields have the
 * local time of the requested zone.
 */
const PARTS: Record<string, (clock: Date) => number> = {
  getFullYear: (clock) => clock.getUTCFullYear(),
  getMonth: (clock) => clock.getUTCMonth(),
  getDate: (clock) => clock.getUTCDate(),
  getDayOfMonth: (clock) => clock.getUTCDate() - 1,
  getDayOfWeek: (clock) => clock.getUTCDay(),
  getDayOfYear: (clock) => {
    const first = new Date(clock);
    first.setUTCMonth(0, 1);
    return Math.round((clock.getTime() - first.getTime()) / DAY);
  },
  getHours: (clock) => clock.getUTCHours(),
  getMinutes: (clock) => clock.getUTCMinutes(),
  getSeconds: (clock) => clock.getUTCSeconds(),
  getMilliseconds: (clock) => clock.getUTCMilliseconds(),
};

/**
 * Time functions of the CEL standard. They replace the functions of the CEL evaluator, which use the time zone of the
 * machine, confuse seconds with milliseconds, and accept invalid days and hours as later days and hours.
 */
export const TIME: readonly CelFunc[] = [
  ...Object.entries(PARTS).flatMap(([name, part]) => [
    celMethod(name, TIMESTAMP, [], INT, function () {
      return BigInt(part(timestampDate(this.message)));
    }),
    celMethod(name, TIMESTAMP, [STRING], INT, function (zone) {
      return BigInt(part(clockIn(zone, this.message)));
    }),
  ]),
  celFunc('timestamp', [INT], TIMESTAMP, (seconds) => {
    if (seconds < FIRST_SECOND || seconds > LAST_SECOND) throw new Error('timestamp out of range');
    return create(TimestampSchema, { seconds });
  }),
  celFunc('timestamp', [STRING], TIMESTAMP, (text) => {
    const date = readTimestamp(text);
    if (date === undefined) throw new Error(`"${briefText(text, 50)}" is no time, as 2026-01-31T12:00:00Z is one`);
    const fraction = /\.(\d+)/.exec(text)?.[1] ?? '';
    // Nanosecond precision; a Date has milliseconds.
    return create(TimestampSchema, { ...timestampFromDate(date), nanos: Number(fraction.padEnd(9, '0')) });
  }),
];

function clockIn(zone: string, timestamp: Timestamp): Date {
  const date = timestampDate(timestamp);
  const [written, sign, hours, minutes] = OFFSET.exec(zone) ?? [];
  if (written !== undefined) {
    const offset = (Number(hours) * 60 + Number(minutes)) * MINUTE;
    return new Date(date.getTime() + (sign === '-' ? -offset : offset));
  }
  currentEvaluation().budget.chargeSteps(STEPS_TO_READ_CLOCK);
  const parts = Object.fromEntries(
    cachedFormat(zone)
      .formatToParts(date)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const clock = new Date(0);
  clock.setUTCFullYear(parts.year ?? 0, (parts.month ?? 1) - 1, parts.day);
  clock.setUTCHours(parts.hour ?? 0, parts.minute, parts.second, date.getUTCMilliseconds());
  return clock;
}

function cachedFormat(zone: string): Intl.DateTimeFormat {
  const { budget, clocks } = currentEvaluation();
  const known = clocks.get(zone);
  if (known !== undefined) return known;
  budget.chargeSteps(STEPS_TO_MAKE_CLOCK);
  const format = createFormat(zone);
  clocks.set(zone, format);
  return format;
}

function createFormat(timeZone: string): Intl.DateTimeFormat {
  const [year, month, day, hour, minute, second] = Array<'numeric'>(6).fill('numeric');
  try {
    return new Intl.DateTimeFormat('en-US', { hourCycle: 'h23', timeZone, year, month, day, hour, minute, second });
  } catch (error) {
    throw new Error(`there is no time zone "${briefText(timeZone, 50)}"`, { cause: error });
  }
}

/** Pattern of a duration in a definition, such as `500ms`, `1.5s` or `7d`. */
export const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/;

/** Longest duration in a definition: one year, in milliseconds. */
export const LONGEST_DURATION = 365 * 86_400_000;

const MILLISECONDS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Last moment that a `Date` can represent, in milliseconds since 1970. */
const LAST = 8.64e15;

/** Parses a duration (`500ms`, `1.5s`, `2m`, `48h`, `7d`) to milliseconds; `undefined` for any other value. */
export function parseDuration(text: unknown): number | undefined {
  const [, number, unit] = (typeof text === 'string' && DURATION.exec(text)) || [];
  return number === undefined ? undefined : Number(number) * (MILLISECONDS[unit ?? ''] ?? 0);
}

/** Adds `duration` milliseconds to a moment; the result is at most the last moment that a `Date` can represent. */
export function addMilliseconds(moment: Date, duration: number): Date {
  return new Date(Math.min(moment.getTime() + duration, LAST));
}
