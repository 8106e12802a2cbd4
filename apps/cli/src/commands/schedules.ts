import type { Command } from 'commander';
import type { Schemas } from '#libs/client';
import { CommandError } from '../exit-code.js';
import type { Session } from '../session.js';
import { readTime } from './run-list.js';

/** Number of entries of a history that `parley schedules history` shows. */
const SHOWN_FIRINGS = 50;

/** Options of `parley schedules` for its further actions. */
interface ScheduleOptions {
  note?: string;
  from?: string;
  to?: string;
  allow?: boolean;
}

type ScheduleAction = (session: Session, name: string, rest: readonly unknown[]) => Promise<void>;

/** Further actions of `parley schedules` on one schedule, by the word that names the action. */
export const SCHEDULE_ACTIONS: Readonly<Record<string, ScheduleAction>> = {
  history: showHistory,
  pause: (session, name, rest) => changeSchedule(session, name, 'pause', { note: optionsOf(rest).note }),
  resume: (session, name) => changeSchedule(session, name, 'resume'),
  run: runNow,
  backfill: backfillSchedule,
};

/** Adds the options of SCHEDULE_ACTIONS. */
export function addScheduleOptions(command: Command): Command {
  return command
    .option('--note <text>', 'reason of a pause')
    .option('--from <time>', 'begin of a backfill: a time, or a duration such as 7d')
    .option('--to <time>', 'end of a backfill; default: now')
    .option('--allow', 'start the runs of a backfill all at once, instead of one after another');
}

/** Returns the cells of a schedule in the list: its name, workflow, times, and when it is due next. */
export function scheduleCells(view: Schemas['ScheduleView']): string[] {
  const { name, workflow, cron, timeZone, every, at, paused, note, nextTimes } = view;
  const times = cron === undefined ? (every === undefined ? `at ${at}` : `every ${every}`) : cron;
  const [next] = nextTimes;
  const due = paused ? `paused${note === undefined ? '' : `: ${note}`}` : (next ?? 'never again');
  return [name, workflow, timeZone === undefined ? times : `${times} ${timeZone}`, due];
}

function optionsOf(rest: readonly unknown[]): ScheduleOptions {
  return (rest[0] ?? {}) as ScheduleOptions;
}

function placeOf(name: string, action: string): `/${string}` {
  return `/api/schedules/${encodeURIComponent(name)}/${action}`;
}

async function changeSchedule(
  { client, terminal, signal }: Session,
  name: string,
  action: 'pause' | 'resume',
  body: object = {},
): Promise<void> {
  const path = placeOf(name, action);
  const view = await client.call<Schemas['ScheduleView']>(path, { method: 'POST', body, signal });
  const [next = 'never again'] = view.nextTimes;
  terminal.writeResult(view, () =>
    terminal.stripControls(view.paused ? `Paused ${name}.` : `Resumed ${name}; it is due next: ${next}.`),
  );
}

async function runNow({ client, terminal, signal }: Session, name: string): Promise<void> {
  const started = await client.call<Schemas['RequestedRunView']>(placeOf(name, 'run'), { method: 'POST', signal });
  terminal.writeResult(started, () => terminal.stripControls(started.runId));
}

async function backfillSchedule(
  { client, terminal, signal }: Session,
  name: string,
  rest: readonly unknown[],
): Promise<void> {
  const { from, to, allow = false } = optionsOf(rest);
  if (from === undefined) throw new CommandError('Name the period: parley schedules backfill <name> --from <time>');
  const body = {
    from: readTime('--from', from),
    to: to === undefined ? new Date().toISOString() : readTime('--to', to),
    ...(allow && { overlap: 'allow' }),
  };
  const filled = await client.call<Schemas['BackfillView']>(placeOf(name, 'backfill'), {
    method: 'POST',
    body,
    signal,
  });
  const noun = filled.count === 1 ? 'run' : 'runs';
  terminal.writeResult(filled, () => `${filled.count} ${noun} ${allow ? 'started' : 'queued'}.`);
}

async function showHistory({ client, terminal, signal }: Session, name: string): Promise<void> {
  const query = { pageSize: SHOWN_FIRINGS };
  const { firings } = await client.call<Schemas['ScheduleFiringListView']>(placeOf(name, 'firings'), { query, signal });
  const rows = (): string[][] =>
    firings.map(({ due, cause, state, runId, reason }) =>
      [due.slice(0, 19).replace('T', ' '), cause, state, runId ?? reason ?? ''].map((cell) =>
        terminal.stripControls(cell.replaceAll(/\s+/g, ' ')),
      ),
    );
  terminal.writeResult(firings, () =>
    firings.length === 0
      ? 'The schedule has not fired yet.'
      : terminal.formatTable(['DUE (UTC)', 'CAUSE', 'STATE', 'RUN'], rows()),
  );
}
