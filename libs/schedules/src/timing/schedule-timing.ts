import { Cron } from 'croner';
import { LONGEST_DURATION, parseDuration } from '#libs/expressions';
import { readTimestamp } from '#libs/protocol';

/** Times at which a schedule fires: exactly one of `cron`, `every` and `at`. */
export interface ScheduleTiming {
  /**
   * Cron expression of five fields (minute, hour, day of the month, month, day of the week), or of six with seconds
   * first. If it restricts both days, it fires on each day that either of them matches.
   */
  cron?: string;
  /** Interval, such as `15m`, counted from `startAt`, or from 1970 in UTC without it. */
  every?: string;
  /** The only time, as RFC 3339 text. */
  at?: string;
  /** IANA time zone of `cron`; UTC by default. */
  timeZone?: string;
  /** First moment at which the schedule may fire, as RFC 3339 text. */
  startAt?: string;
  /** Last moment at which the schedule may fire, as RFC 3339 text. */
  endAt?: string;
}

/** Problem of a member of a timing. */
export interface TimingProblem {
  path: 'cron' | 'every' | 'at' | 'timeZone' | 'startAt' | 'endAt';
  detail: string;
}

/** Maximum number of characters of a cron expression. */
export const LONGEST_CRON = 100;
/** Shortest interval, in milliseconds. */
const SHORTEST_INTERVAL_MS = 1_000;
const NICKNAMES = new Set(['@hourly', '@daily', '@midnight', '@weekly', '@monthly', '@annually', '@yearly']);
const FIELDS = /^\S+( +\S+){4,5}$/;
const NEVER = 'never fires';

/**
 * Times at which a schedule fires.
 *
 * Local times that a change of the clock skips or doubles, for `cron` (croner 11, `fixedTimeRule: "no-wildcard"`):
 * - An expression whose second, minute and hour are numbers, lists or ranges names fixed times. A skipped time fires
 *   once, at the first moment after the gap; a doubled time fires once, at its first occurrence.
 * - An expression with `*` or a step in one of these fields is an interval: it fires in both hours of a doubled hour,
 *   and not at all in a skipped one.
 */
export class FiringTimes {
  private readonly first: number;
  private readonly last: number;
  private readonly cron: Cron | undefined;
  private readonly interval: number;
  private readonly at: number | undefined;

  /** @param timing a timing in which `findTimingProblems` finds no problem */
  constructor(timing: ScheduleTiming) {
    this.first = momentOf(timing.startAt) ?? Number.NEGATIVE_INFINITY;
    this.last = momentOf(timing.endAt) ?? Number.POSITIVE_INFINITY;
    this.cron = timing.cron === undefined ? undefined : parseCron(timing.cron, timing.timeZone);
    // Whole milliseconds, as a Date has: 1.1h is 3960000.0000000005.
    this.interval = Math.round(parseDuration(timing.every) ?? SHORTEST_INTERVAL_MS);
    this.at = momentOf(timing.at);
  }

  /** Returns the first time after a moment; `undefined` if the schedule does not fire after it. */
  nextAfter(moment: Date): Date | undefined {
    const after = Math.max(moment.getTime(), this.first - 1);
    const next = this.findNext(after);
    return next === undefined || next > this.last ? undefined : new Date(next);
  }

  /** Returns the times after `after`, up to and including `until`, but at most `most` times. */
  listBetween(after: Date, until: Date, most: number): Date[] {
    const times: Date[] = [];
    for (let next = this.nextAfter(after); next && next <= until && times.length < most; next = this.nextAfter(next))
      times.push(next);
    return times;
  }

  /** Returns the first `count` times after a moment. */
  listNext(moment: Date, count: number): Date[] {
    const times: Date[] = [];
    for (let next = this.nextAfter(moment); next && times.length < count; next = this.nextAfter(next)) times.push(next);
    return times;
  }

  private findNext(after: number): number | undefined {
    if (this.at !== undefined) return this.at > after ? this.at : undefined;
    if (this.cron) return this.cron.nextRun(new Date(after))?.getTime();
    const { interval } = this;
    const base = Number.isFinite(this.first) ? this.first : 0;
    return base + (Math.floor((after - base) / interval) + 1) * interval;
  }
}

/** Returns the problems of a timing, each with the member that has it. */
export function findTimingProblems(timing: ScheduleTiming, now: Date): TimingProblem[] {
  const given = (['cron', 'every', 'at'] as const).filter((member) => timing[member] !== undefined);
  if (given.length !== 1) {
    const [path = 'cron'] = given;
    return [{ path, detail: 'a schedule has exactly one of cron, every and at' }];
  }
  const problems = [
    ...zoneProblems(timing),
    ...(['at', 'startAt', 'endAt'] as const).flatMap((path) => momentProblems(path, timing[path])),
    ...intervalProblems(timing),
  ];
  if (problems.length > 0) return problems;
  return [...cronProblems(timing), ...orderProblems(timing)].concat(
    firesNever(timing, now) ? [{ path: given[0] ?? 'cron', detail: NEVER }] : [],
  );
}

function firesNever(timing: ScheduleTiming, now: Date): boolean {
  if (cronProblems(timing).length > 0 || orderProblems(timing).length > 0) return false;
  return timing.at === undefined && new FiringTimes(timing).nextAfter(now) === undefined;
}

function zoneProblems({ cron, timeZone }: ScheduleTiming): TimingProblem[] {
  if (timeZone === undefined) return [];
  if (cron === undefined) return [{ path: 'timeZone', detail: 'belongs to cron; every and at need no time zone' }];
  return isTimeZone(timeZone)
    ? []
    : [{ path: 'timeZone', detail: 'must be the IANA name of a time zone, such as Europe/Berlin' }];
}

/** True for the name of a time zone. Offsets such as `+02:00` are no names: they know no daylight saving time. */
function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

function momentProblems(path: 'at' | 'startAt' | 'endAt', text: string | undefined): TimingProblem[] {
  if (text === undefined || readTimestamp(text)) return [];
  return [{ path, detail: 'must be a time such as 2026-01-31T09:30:00Z' }];
}

function intervalProblems({ every }: ScheduleTiming): TimingProblem[] {
  if (every === undefined) return [];
  const interval = parseDuration(every) ?? 0;
  if (interval >= SHORTEST_INTERVAL_MS && interval <= LONGEST_DURATION) return [];
  return [{ path: 'every', detail: 'must be a duration from 1s to 365d, such as 15m' }];
}

function cronProblems({ cron, timeZone }: ScheduleTiming): TimingProblem[] {
  if (cron === undefined) return [];
  const path = 'cron';
  if (cron.length > LONGEST_CRON) return [{ path, detail: `must have at most ${LONGEST_CRON} characters` }];
  if (!NICKNAMES.has(cron) && !FIELDS.test(cron))
    return [{ path, detail: 'must have five fields, or six with seconds first, such as "30 7 * * mon-fri"' }];
  try {
    parseCron(cron, timeZone);
    return [];
  } catch (error) {
    return [{ path, detail: `is no cron expression: ${(error as Error).message.replace(/^CronPattern: /, '')}` }];
  }
}

function orderProblems({ startAt, endAt }: ScheduleTiming): TimingProblem[] {
  const [first, last] = [momentOf(startAt), momentOf(endAt)];
  if (first === undefined || last === undefined || first < last) return [];
  return [{ path: 'endAt', detail: 'must be later than startAt' }];
}

function momentOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : readTimestamp(text)?.getTime();
}

function parseCron(expression: string, timezone = 'UTC'): Cron {
  return new Cron<undefined>(expression, {
    ...{ paused: true, timezone, mode: '5-or-6-parts' as const, fixedTimeRule: 'no-wildcard' as const },
  });
}
