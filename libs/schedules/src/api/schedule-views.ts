import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { QueryPageSize, QueryPageToken, QueryWholePageSize } from '#libs/http-server';
import { FIRING_STATES, type FiringState, type ScheduleFiring } from '../storage/schedule-firings.js';
import { MOST_SCHEDULES, type Schedule, SCHEDULE_NAME } from '../storage/schedules.js';
import { FiringTimes } from '../timing/schedule-timing.js';
import { ScheduleBody } from './schedule-body.js';

/** Number of next times in a view. */
const SHOWN_TIMES = 10;

/** Query of one page of the list of schedules. */
export class ScheduleQuery {
  @QueryWholePageSize(MOST_SCHEDULES)
  pageSize = MOST_SCHEDULES;

  @QueryPageToken((token) => SCHEDULE_NAME.test(token), 'morning-report')
  pageToken?: string;
}

/** Query of one page of the history of a schedule. */
export class FiringQuery {
  @QueryPageSize()
  pageSize = 50;

  @QueryPageToken((token) => /^\d{1,18}$/.test(token), '1234')
  pageToken?: string;
}

/** Times at which a schedule will fire next. */
export class NextTimesView {
  @ApiProperty({ type: [String], format: 'date-time', description: 'The next ten times, without jitter.' })
  nextTimes!: string[];
}

export class ScheduleView extends ScheduleBody {
  @ApiProperty({ example: 'ann', description: 'Caller under whose name the runs are started.' })
  owner!: string;

  @ApiProperty()
  paused!: boolean;

  @ApiPropertyOptional({ example: 'Paused by the service after 3 failed runs in a row.' })
  note?: string;

  @ApiProperty({
    type: [String],
    format: 'date-time',
    description: 'The next ten times, without jitter; in a list only the first. Empty if paused.',
  })
  nextTimes!: string[];

  @ApiProperty({ format: 'date-time' })
  createdAt!: string;

  @ApiProperty({ format: 'date-time' })
  updatedAt!: string;
}

export class ScheduleListView {
  @ApiProperty({ type: [ScheduleView] })
  schedules!: ScheduleView[];

  @ApiProperty({ description: 'Empty on the last page.', example: '' })
  nextPageToken!: string;
}

/** Entry of the history of a schedule: a time, and what came of it. */
export class ScheduleFiringView {
  @ApiProperty({ example: '1234' })
  id!: string;

  @ApiProperty({ format: 'date-time', description: 'Time of the schedule; for `missed` the last of several.' })
  due!: string;

  @ApiProperty({ enum: ['time', 'backfill', 'request'] })
  cause!: 'time' | 'backfill' | 'request';

  @ApiProperty({
    enum: FIRING_STATES,
    description:
      'State of the run; `ended` for a run that is no longer stored. `queued`, `skipped` and `missed` have no run.',
  })
  state!: FiringState;

  @ApiPropertyOptional({
    description: 'Absent if no run was started.',
    example: '019a1f0e-5b7a-7c31-9a53-0d8f5f0e6a11',
  })
  runId?: string;

  @ApiPropertyOptional({ example: 'An earlier run of the schedule had not ended.' })
  reason?: string;

  @ApiProperty({ format: 'date-time' })
  decidedAt!: string;
}

export class ScheduleFiringListView {
  @ApiProperty({ type: [ScheduleFiringView] })
  firings!: ScheduleFiringView[];

  @ApiProperty({ description: 'Empty on the last page.', example: '' })
  nextPageToken!: string;
}

export class BackfillView {
  @ApiProperty({ description: 'Number of runs that are started.', example: 31 })
  count!: number;
}

export class RequestedRunView {
  @ApiProperty({ example: '019a1f0e-5b7a-7c31-9a53-0d8f5f0e6a11' })
  runId!: string;
}

/** Returns the view of a schedule in a list, which has only its next time: further ones take a while to compute. */
export function listedSchedule(schedule: Schedule): ScheduleView {
  const { name, workflow, inputs, timing, rules, owner, paused, note, next, createdAt, updatedAt } = schedule;
  const view: Omit<ScheduleView, 'timing' | 'definition'> = {
    ...{ name, workflow, inputs, ...timing, ...rules, owner, paused },
    ...(note !== undefined && { note }),
    nextTimes: next ? [next.toISOString()] : [],
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
  // The accessors of the body belong to requests only.
  return view as ScheduleView;
}

/** Returns the view of a schedule with its next ten times. */
export function scheduleView(schedule: Schedule): ScheduleView {
  const { timing, next } = schedule;
  const nextTimes = next ? nextTimesView(new FiringTimes(timing), next, next) : [];
  return Object.assign(listedSchedule(schedule), { nextTimes });
}

/** Returns the next ten times after a moment as texts. @param first the first of them, if it is known */
export function nextTimesView(times: FiringTimes, after: Date, first?: Date): string[] {
  const shown = first ? [first, ...times.listNext(first, SHOWN_TIMES - 1)] : times.listNext(after, SHOWN_TIMES);
  return shown.map((time) => time.toISOString());
}

export function firingView({ due, decidedAt, ...firing }: ScheduleFiring): ScheduleFiringView {
  return { ...firing, due: due.toISOString(), decidedAt: decidedAt.toISOString() };
}
