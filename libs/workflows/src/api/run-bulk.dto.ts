import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsBoolean, IsString } from 'class-validator';
import { ApiClosed, IfGiven } from '#libs/http-server';
import type { RunStatus } from '#libs/workflow-engine';
import { RUN_ID, RUN_STATUS } from './run.dto.js';

/** Maximum number of runs of one bulk action. */
export const MOST_SELECTED = 500;

const OUTCOMES = ['done', 'possible', 'refused', 'pending'] as const;

/** Body of a request that cancels or reruns several runs. */
@ApiClosed()
export class BulkBody {
  static readonly optional = true;
  /**
   * Error text for an unknown member. Such a member is rejected, because a misspelled `dryRun` would otherwise be
   * dropped, and the action would be performed.
   */
  static readonly unknown = 'is not known';

  @ApiPropertyOptional({
    type: [String],
    maxItems: MOST_SELECTED,
    description: 'Runs to act on; absent: the runs that the query parameters select.',
    example: ['019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e'],
  })
  @IfGiven()
  @IsArray({ message: 'must be an array' })
  @ArrayMaxSize(MOST_SELECTED, { message: `must not have more than ${MOST_SELECTED} entries` })
  @IsString({ each: true, message: 'must be an array of strings' })
  ids?: string[];

  @ApiPropertyOptional({ description: 'True to report what would be done, and change nothing.', example: true })
  @IfGiven()
  @IsBoolean({ message: 'must be true or false' })
  dryRun?: boolean;
}

/** Body of a request that reruns several runs. */
@ApiClosed()
export class BulkRerunBody extends BulkBody {
  @ApiPropertyOptional({
    description: 'True if only failed nodes run again, with all that follow them; by default all nodes run.',
    example: true,
  })
  @IfGiven()
  @IsBoolean({ message: 'must be true or false' })
  failed?: boolean;

  @ApiPropertyOptional({
    description: 'True to run the newest revision of each workflow; by default the revision of each run.',
    example: true,
  })
  @IfGiven()
  @IsBoolean({ message: 'must be true or false' })
  newest?: boolean;
}

/** Outcome of a bulk action for one run. */
export class BulkOutcome {
  @ApiProperty(RUN_ID) runId!: string;
  @ApiPropertyOptional({ ...RUN_STATUS, description: 'Status of the run before the action; absent if it is unknown.' })
  status?: RunStatus;
  @ApiProperty({
    enum: OUTCOMES,
    description:
      '`possible`: a dry run found nothing against it. `pending`: the cancel continues, or the time of the request ' +
      'or an error ended it before this run; repeat the request.',
    example: 'done',
  })
  outcome!: (typeof OUTCOMES)[number];
  @ApiPropertyOptional({ ...RUN_ID, description: 'New run, after a rerun.' }) newRunId?: string;
  @ApiPropertyOptional({
    description: 'Reason, if the action was refused or is pending.',
    example: 'the run has ended: it is completed',
  })
  reason?: string;
}

/** Report of a bulk action. */
export class BulkReport {
  @ApiProperty({ description: 'True if nothing was changed.', example: false }) dryRun!: boolean;
  @ApiProperty({ type: [BulkOutcome], description: 'Outcome of each selected run.' }) runs!: BulkOutcome[];
  @ApiProperty({
    description: `True if the filter selects more runs than one request acts on (${MOST_SELECTED}).`,
    example: false,
  })
  more!: boolean;
}
