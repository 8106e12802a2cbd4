import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { QueryNumber } from '#libs/http';

const LARGEST_PAGE = 200;

/** Page of a Task's log. */
export class TaskLogQuery {
  @QueryNumber(0, undefined, { default: 0, description: 'The events after this one; `next` of the page before.' })
  after = 0;

  @QueryNumber(1, LARGEST_PAGE, { default: 100, description: 'How many at most; a page ends after a megabyte, too.' })
  limit = 100;
}

/** Event of a Task's log. */
export class LoggedEventView {
  @ApiProperty({
    type: 'integer',
    description: 'Its number in the log, from 1: the id of the same event in a stream.',
    example: 2,
  })
  sequence!: number;

  @ApiProperty({ format: 'date-time', description: 'When it was made.' })
  recordedAt!: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: 'A StreamResponse of A2A, as SubscribeToTask sends it.',
    example: {
      statusUpdate: {
        taskId: '0190c1de-7a53-7f0c-9a57-2f8f0f6f3b52',
        contextId: '0190c1de-7a53-7f0c-9a57-2f8f0f6f3b53',
        status: { state: 'TASK_STATE_WORKING', timestamp: '2026-01-31T09:30:00.000Z' },
      },
    },
  })
  event!: object;
}

export class TaskLogView {
  @ApiProperty({ type: [LoggedEventView] })
  events!: LoggedEventView[];

  @ApiPropertyOptional({
    type: 'integer',
    description: 'What the next page comes `after`; absent on the last one.',
    example: 100,
  })
  next?: number;
}
