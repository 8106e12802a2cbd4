import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  IsIn,
  IsInt,
  IsObject,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  NotContains,
  ValidateBy,
} from 'class-validator';
import { DURATION, LONGEST_DURATION, parseDuration } from '#libs/expressions';
import { ApiClosed, IfGiven, malformedRequest } from '#libs/http-server';
import type { JsonObject } from '#libs/protocol';
import { type Overlap, OVERLAPS } from '../firing/firing-plan.js';
import { SCHEDULE_NAME, type ScheduleDefinition } from '../storage/schedules.js';
import { findTimingProblems, LONGEST_CRON, type ScheduleTiming } from '../timing/schedule-timing.js';

const NAME_RULE = 'must be 1 to 64 letters, digits, underscores or hyphens, and not begin with a hyphen';
const DURATION_RULE = 'must be a duration such as 30s, 10m or 2h, and at most 365d';
/** Maximum number of characters of the inputs as JSON. */
const LONGEST_INPUTS = 65_536;

const isDuration = (value: unknown): boolean => (parseDuration(value) ?? Number.POSITIVE_INFINITY) <= LONGEST_DURATION;
const IsDuration = (): PropertyDecorator =>
  ValidateBy({ name: 'duration', validator: { validate: isDuration } }, { message: DURATION_RULE });

/** Times of a schedule, as callers of the API send them. */
@ApiClosed()
export class ScheduleTimingBody {
  static readonly unknown: string = 'is not a field of the times of a schedule';

  @ApiPropertyOptional({
    example: '30 7 * * mon-fri',
    description:
      'Cron expression: minute, hour, day of the month, month, day of the week; with six fields seconds come first. ' +
      `At most ${LONGEST_CRON} characters. Exactly one of \`cron\`, \`every\` and \`at\` is given.`,
  })
  @IfGiven()
  @IsString({ message: 'must be a text' })
  cron?: string;

  @ApiPropertyOptional({
    example: 'Europe/Berlin',
    default: 'UTC',
    description: 'IANA time zone of `cron`.',
  })
  @IfGiven()
  @IsString({ message: 'must be a text' })
  timeZone?: string;

  @ApiPropertyOptional({
    pattern: DURATION.source,
    example: '15m',
    description: 'Interval from 1s to 365d, counted from `startAt`, or from 1970-01-01T00:00:00Z.',
  })
  @IfGiven()
  @IsString({ message: 'must be a text' })
  every?: string;

  @ApiPropertyOptional({ format: 'date-time', description: 'The only time at which the schedule fires.' })
  @IfGiven()
  @IsString({ message: 'must be a text' })
  at?: string;

  @ApiPropertyOptional({ format: 'date-time', description: 'First moment at which the schedule may fire.' })
  @IfGiven()
  @IsString({ message: 'must be a text' })
  startAt?: string;

  @ApiPropertyOptional({ format: 'date-time', description: 'Last moment at which the schedule may fire.' })
  @IfGiven()
  @IsString({ message: 'must be a text' })
  endAt?: string;

  /** Returns the times. @throws ProblemError 400 with an entry for each problem of them */
  get timing(): ScheduleTiming {
    const { cron, timeZone, every, at, startAt, endAt } = this;
    const given = Object.entries({ cron, timeZone, every, at, startAt, endAt }).filter(([, it]) => it !== undefined);
    const timing = Object.fromEntries(given) as ScheduleTiming;
    const problems = findTimingProblems(timing, new Date());
    if (problems.length > 0) throw malformedRequest(...problems);
    return timing;
  }
}

/** Schedule, as callers of the API send it. */
@ApiClosed()
export class ScheduleBody extends ScheduleTimingBody {
  static override readonly unknown: string = 'is not a field of a schedule';

  @ApiProperty({ pattern: SCHEDULE_NAME.source, example: 'morning-report' })
  @Matches(SCHEDULE_NAME, { message: NAME_RULE })
  name!: string;

  @ApiProperty({ pattern: SCHEDULE_NAME.source, example: 'greeting', description: 'Name of the workflow that is run.' })
  @Matches(SCHEDULE_NAME, { message: 'must be the name of a workflow' })
  workflow!: string;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    default: {},
    description: `Inputs of each run; at most ${LONGEST_INPUTS} characters as JSON.`,
    example: { text: 'Good morning' },
  })
  @IfGiven()
  @IsObject({ message: 'must be an object' })
  @ValidateBy(
    { name: 'inputsSize', validator: { validate: (value) => JSON.stringify(value)?.length <= LONGEST_INPUTS } },
    { message: `must have at most ${LONGEST_INPUTS} characters as JSON` },
  )
  inputs?: JsonObject;

  @ApiPropertyOptional({
    enum: OVERLAPS,
    default: 'skip',
    description: 'What happens to a time that comes while an earlier run of the schedule has not ended.',
  })
  @IfGiven()
  @IsIn(OVERLAPS, { message: `must be one of ${OVERLAPS.join(', ')}` })
  overlap?: Overlap;

  @ApiPropertyOptional({
    pattern: DURATION.source,
    default: '10m',
    description: 'Time by which a run may be late, for example after an outage; later times count as missed.',
  })
  @IfGiven()
  @IsDuration()
  catchUp?: string;

  @ApiPropertyOptional({
    pattern: DURATION.source,
    example: '30s',
    description: 'Maximum delay of each run, so that schedules of the same time do not start together.',
  })
  @IfGiven()
  @IsDuration()
  jitter?: string;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: 100,
    example: 3,
    description: 'Number of failed runs in a row after which the schedule is paused.',
  })
  @IfGiven()
  @IsInt({ message: 'must be a number from 1 to 100' })
  @Min(1, { message: 'must be a number from 1 to 100' })
  @Max(100, { message: 'must be a number from 1 to 100' })
  pauseAfterFailures?: number;

  /** Returns the definition with its defaults. @throws ProblemError 400 with an entry for each problem of the times */
  get definition(): ScheduleDefinition {
    const { workflow, inputs = {}, overlap = 'skip', catchUp = '10m', jitter, pauseAfterFailures } = this;
    const rules = {
      ...{ overlap, catchUp },
      ...(jitter !== undefined && { jitter }),
      ...(pauseAfterFailures !== undefined && { pauseAfterFailures }),
    };
    return { workflow, inputs, timing: this.timing, rules };
  }
}

/** Body that replaces a schedule. The name comes from the path; a name in the body is ignored. */
@ApiClosed()
export class ScheduleReplacementBody extends ScheduleBody {
  static from(sent: object): ScheduleReplacementBody {
    return Object.assign(new this(), sent, { name: 'named-by-its-path' });
  }
}

/** Body of a pause. */
@ApiClosed()
export class SchedulePauseBody {
  static readonly unknown = 'is not a field of a pause';
  static readonly optional = true;

  @ApiPropertyOptional({ maxLength: 500, example: 'The printer is away until Monday.' })
  @IfGiven()
  @IsString({ message: 'must be a text' })
  @MaxLength(500, { message: 'must have at most 500 characters' })
  // PostgreSQL has no NUL in a text.
  @NotContains('\0', {
    message: ({ value }) => (typeof value === 'string' ? 'must not contain a NUL character' : 'must be a text'),
  })
  note?: string;
}

/** Body of a backfill: a period of the past for whose times runs are started. */
@ApiClosed()
export class BackfillBody {
  static readonly unknown = 'is not a field of a backfill';

  @ApiProperty({ format: 'date-time', example: '2026-01-01T00:00:00Z' })
  @IsString({ message: 'must be a time such as 2026-01-31T09:30:00Z' })
  from!: string;

  @ApiProperty({ format: 'date-time', example: '2026-01-31T00:00:00Z' })
  @IsString({ message: 'must be a time such as 2026-01-31T09:30:00Z' })
  to!: string;

  @ApiPropertyOptional({
    enum: ['queue', 'allow'],
    default: 'queue',
    description: '`queue` starts one run after another, `allow` all at once.',
  })
  @IfGiven()
  @IsIn(['queue', 'allow'], { message: 'must be one of queue, allow' })
  overlap?: 'queue' | 'allow';
}
