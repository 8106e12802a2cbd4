import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayMinSize, ArrayUnique, IsArray, Matches } from 'class-validator';
import { ApiClosed, EachEntry, IfGiven } from '#libs/http-server';
import { END_STATUSES, type EndStatus, TRIGGER_NAME } from '../storage/triggers.js';

const isEndStatus = (status: unknown): boolean => END_STATUSES.some((it) => it === status);

/** Ended runs that fire a trigger, as callers of the API send them. */
@ApiClosed()
export class EndedRunBody {
  static readonly unknown = 'is not a field of the source run';

  @ApiProperty({ pattern: TRIGGER_NAME.source, example: 'greeting', description: 'Workflow of the runs.' })
  @Matches(TRIGGER_NAME, { message: 'must be the name of a workflow' })
  workflow!: string;

  @ApiPropertyOptional({
    enum: END_STATUSES,
    isArray: true,
    minItems: 1,
    maxItems: END_STATUSES.length,
    default: ['completed'],
    example: ['failed'],
    description: 'Statuses with which a run ends.',
  })
  @IfGiven()
  @IsArray({ message: 'must be an array' })
  @ArrayMinSize(1, { message: 'must have an entry' })
  @ArrayMaxSize(END_STATUSES.length, { message: `must have at most ${END_STATUSES.length} entries` })
  @ArrayUnique({ message: 'must not have an entry twice' })
  @EachEntry(isEndStatus, `must be one of ${END_STATUSES.join(', ')}`)
  statuses?: EndStatus[];
}
