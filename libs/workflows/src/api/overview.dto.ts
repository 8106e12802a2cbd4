import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { malformedRequest, QueryTime } from '#libs/http-server';
import type { RunStatus } from '#libs/workflow-engine';
import type { TimeRange } from '../storage/run-activity.js';
import { RUN_ID } from './run.dto.js';
import { UsageView } from './usage.dto.js';

/** Example of the id of a cause. */
export const CAUSE_ID = 'nV2pX0q7c3L8sTfA';

const COUNT = { type: 'integer', example: 3 } as const;
const TIME = { type: String, format: 'date-time', example: '2026-01-31T09:30:00.000Z' } as const;
const SECONDS = { type: Number, example: 1.25 } as const;

const DAY_MS = 86_400_000;
/** Maximum days of a range. */
const MOST_DAYS = 90;

/** Query parameters of the overview. */
export class OverviewQuery {
  @QueryTime({ description: 'Begin of the range; default: 24 hours before `until`.', example: '2026-01-30T09:30:00Z' })
  since?: Date;

  @QueryTime({ description: 'End of the range, not included; default: now.', example: '2026-01-31T09:30:00Z' })
  until?: Date;

  /** Range of the overview. @throws ProblemError 400 if the range is empty, or has more than MOST_DAYS days */
  rangeAt(now: Date): TimeRange {
    const until = this.until ?? now;
    const since = this.since ?? new Date(until.getTime() - DAY_MS);
    const ms = until.getTime() - since.getTime();
    // PostgreSQL has no year 0.
    if (since.getUTCFullYear() < 1) throw malformedRequest({ path: 'since', detail: 'must be in the year 1 or later' });
    if (ms <= 0) throw malformedRequest({ path: 'since', detail: 'must be before until' });
    if (ms > MOST_DAYS * DAY_MS)
      throw malformedRequest({ path: 'since', detail: `must be at most ${MOST_DAYS} days before until` });
    return { since, until };
  }
}

/** Numbers of runs by status. */
export class RunCounts implements Record<RunStatus, number> {
  @ApiProperty(COUNT) running!: number;
  @ApiProperty(COUNT) 'input-required'!: number;
  @ApiProperty(COUNT) completed!: number;
  @ApiProperty(COUNT) failed!: number;
  @ApiProperty(COUNT) canceled!: number;
}

class WorkflowOverview {
  @ApiProperty({ example: 'greeting' }) workflow!: string;
  @ApiProperty({ description: 'Runs that last changed in the range.' }) runs!: RunCounts;
  @ApiPropertyOptional({
    ...SECONDS,
    description: 'Median seconds of the completed runs from start to end, with all waits; absent without any.',
  })
  p50?: number;
  @ApiPropertyOptional({ ...SECONDS, description: '95th percentile of these seconds.' }) p95?: number;
  @ApiPropertyOptional({ description: 'Calls of models of its nodes in `usageDays`; absent if there are none.' })
  usage?: UsageView;
}

/** Failed runs with the same cause. */
class FailureCauseView {
  @ApiProperty({ description: 'Id, which selects these runs as `cause` in `GET /api/runs`.', example: CAUSE_ID })
  id!: string;
  @ApiPropertyOptional({
    description: 'Node that failed the run; absent for a deadline, for example.',
    example: 'plan',
  })
  node?: string;
  @ApiProperty({ description: 'Kind of the failure, as in `retry`.', example: 'server-error' }) kind!: string;
  @ApiProperty({
    description: 'Message of the failure. Its numbers, ids and URLs are `<n>`, `<id>` and `<url>`.',
    example: 'model "large" answered HTTP 500',
  })
  message!: string;
  @ApiProperty({ ...COUNT, description: 'Number of failed runs.' }) runs!: number;
  @ApiProperty({ ...TIME, description: 'End of the first of these runs.' }) firstSeen!: string;
  @ApiProperty({ ...TIME, description: 'End of the last of these runs.' }) lastSeen!: string;
  @ApiProperty({ ...RUN_ID, description: 'Last of these runs.' }) runId!: string;
  @ApiProperty({ type: [String], description: 'Workflows of these runs, at most ten.', example: ['greeting'] })
  workflows!: string[];
}

/** Oldest waiting run or question of one kind. */
class OldestWait {
  @ApiProperty(RUN_ID) runId!: string;
  @ApiProperty({ example: 'review' }) workflow!: string;
  @ApiProperty({ ...TIME, description: 'Time since which it waits.' }) since!: string;
  @ApiPropertyOptional({ ...TIME, description: 'Time until which a parked run waits.' }) until?: string;
  @ApiPropertyOptional({ description: 'Beginning of the question.', example: 'Publish?' }) question?: string;
}

/** Numbers of waiting runs or questions of one kind, by age. */
class WaitsView {
  @ApiProperty({ ...COUNT, description: 'Number in all.' }) total!: number;
  @ApiProperty({ ...COUNT, description: 'Number that has waited for less than an hour.' }) underHour!: number;
  @ApiProperty({ ...COUNT, description: 'Number that has waited for an hour to a day.' }) underDay!: number;
  @ApiProperty({ ...COUNT, description: 'Number that has waited for a day or longer.' }) longer!: number;
  @ApiPropertyOptional({ type: OldestWait, description: 'Longest wait; absent without any.' }) oldest?: OldestWait;
  @ApiProperty({ description: 'True if there may be more: at most 1,000 are read.', example: false }) more!: boolean;
}

class WaitingView {
  @ApiProperty({ description: 'Open questions.' }) questions!: WaitsView;
  @ApiProperty({ description: 'Runs that wait for a time, such as a retry or a delay.' }) parked!: WaitsView;
  @ApiProperty({ description: 'Runs that have not begun.' }) queued!: WaitsView;
}

/** Days whose sums of usage the overview contains. */
class UsageDays {
  @ApiProperty({ description: 'First day, in UTC.', format: 'date', example: '2026-01-30' }) since!: string;
  @ApiProperty({ description: 'Last day, in UTC.', format: 'date', example: '2026-01-31' }) until!: string;
}

/** Overview of a caller's runs. */
export class Overview {
  @ApiProperty({ ...TIME, description: 'Begin of the range.' }) since!: string;
  @ApiProperty({ ...TIME, description: 'End of the range, not included.' }) until!: string;
  @ApiProperty({ description: 'Runs that last changed in the range.' }) runs!: RunCounts;
  @ApiProperty({ description: 'Runs that last changed in the range of the same length before.' }) before!: RunCounts;
  @ApiProperty({ type: [FailureCauseView], description: 'Causes of failed runs, the most frequent first.' })
  failures!: FailureCauseView[];
  @ApiProperty({ type: [WorkflowOverview], description: 'Workflows, those with the most runs first.' })
  workflows!: WorkflowOverview[];
  @ApiProperty({ description: 'Work that waits now, whatever the range.' }) waiting!: WaitingView;
  @ApiProperty({ description: 'Calls of models in `usageDays`.' }) usage!: UsageView;
  @ApiProperty({ description: 'Days of all `usage`: those of the range.' }) usageDays!: UsageDays;
  @ApiProperty({
    description: 'True if the range has more runs than are read, so that `runs` and `workflows` may be too low.',
    example: false,
  })
  more!: boolean;
  @ApiProperty({ description: 'True if `before` may be too low for the same reason.', example: false })
  moreBefore!: boolean;
  @ApiProperty({
    description: 'True if failures are missing: the newest 500 failed runs and the 50 most frequent causes are listed.',
    example: false,
  })
  moreFailures!: boolean;
  @ApiProperty({ description: 'True if workflows are missing: at most 100 are listed.', example: false })
  moreWorkflows!: boolean;
}
