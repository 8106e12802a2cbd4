import { readNumber, readText } from '../components/form-values.js';
import type { Schedule, Timing } from './schedule-api.js';

/** Ways to give the times of a schedule: a cron expression, an interval, or one time. */
export type TimingKind = 'cron' | 'every' | 'at';

export const OVERLAPS = {
  skip: 'Skip this time',
  'queue-one': 'Start after the earlier run; at most one waits',
  queue: 'Start after all earlier runs',
  cancel: 'Cancel the earlier run',
  allow: 'Start beside the earlier run',
} as const satisfies Record<Schedule['overlap'], string>;

/** Returns when a schedule fires, in a few words. */
export function describeTiming({ cron, timeZone, every, at }: Timing): string {
  if (cron !== undefined) return `${cron} (${timeZone ?? 'UTC'})`;
  if (every !== undefined) return `every ${every}`;
  return at === undefined ? '' : `once, ${new Date(at).toLocaleString()}`;
}

export function timingKindOf({ every, at }: Timing): TimingKind {
  if (every !== undefined) return 'every';
  return at === undefined ? 'cron' : 'at';
}

/** Returns the times that the fields of a form describe. Empty fields are left out. */
export function timingIn(fields: FormData, kind: TimingKind): Timing {
  const text = readText(fields, kind);
  const timeZone = kind === 'cron' ? readText(fields, 'timeZone') : undefined;
  const jitter = readText(fields, 'jitter');
  return {
    ...(text !== undefined && { [kind]: kind === 'at' ? toTimestamp(text) : text }),
    ...(timeZone !== undefined && { timeZone }),
    ...readBound(fields, 'startAt'),
    ...readBound(fields, 'endAt'),
    ...(jitter !== undefined && { jitter }),
  };
}

/** Returns the body that creates or replaces a schedule. */
export function scheduleBody(fields: FormData, kind: TimingKind, inputs: unknown): Record<string, unknown> {
  const pauseAfterFailures = readNumber(fields, 'pauseAfterFailures');
  const texts = ['name', 'workflow', 'overlap', 'catchUp'].flatMap((name) => {
    const text = readText(fields, name);
    return text === undefined ? [] : [[name, text] as const];
  });
  return {
    ...Object.fromEntries(texts),
    inputs,
    ...timingIn(fields, kind),
    ...(pauseAfterFailures !== undefined && { pauseAfterFailures }),
  };
}

/** Value of a field of the type `datetime-local`, and the step to which the field accepts times, in seconds. */
interface LocalField {
  defaultValue: string;
  step: number;
}

/** Returns a timestamp as the value of a field, in the person's time zone. Milliseconds are kept if there are any. */
export function toLocalField(timestamp: string | undefined): LocalField {
  if (timestamp === undefined) return { defaultValue: '', step: 1 };
  const at = new Date(timestamp);
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString();
  const hasMilliseconds = at.getMilliseconds() !== 0;
  return { defaultValue: local.slice(0, hasMilliseconds ? 23 : 19), step: hasMilliseconds ? 0.001 : 1 };
}

function readBound(fields: FormData, name: 'startAt' | 'endAt'): Timing {
  const text = readText(fields, name);
  return text === undefined ? {} : { [name]: toTimestamp(text) };
}

/** Returns the time of a field of the type `datetime-local` in UTC; another text stays as it is. */
function toTimestamp(text: string): string {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? text : at.toISOString();
}
