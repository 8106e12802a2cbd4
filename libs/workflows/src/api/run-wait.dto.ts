import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';

const TIME = { format: 'date-time', example: '2026-01-31T09:30:00.000Z' };

class RunSlotWait {
  @ApiPropertyOptional({
    description: 'Name of the limit; absent: the `concurrency` of the workflow.',
    example: 'writer',
  })
  rule?: string;
  @ApiPropertyOptional({
    type: 'integer',
    description: 'Maximum number that is under way; absent if the limit has only a rate.',
    example: 1,
  })
  limit?: number;
  @ApiPropertyOptional({ description: 'Rate of the limit: number of starts and period.', example: '30/1m' })
  rate?: string;
  @ApiPropertyOptional({
    description: 'Beginning of the value of `concurrency.key`, or of the key of the limit.',
    example: 'acme',
  })
  key?: string;
  @ApiProperty({ type: 'integer', description: '1: the run begins next. At most 1000 are counted.', example: 3 })
  place!: number;
  @ApiProperty(TIME) since!: string;
}

/** Reason why a run waits: a question, a time, or a slot. */
export class RunWaitView {
  @ApiPropertyOptional({ description: 'Instance that asks first, or that waits for a slot.', example: 'gate' })
  instance?: string;
  @ApiPropertyOptional({ description: 'Beginning of its question.', example: 'Publish?' }) question?: string;
  @ApiPropertyOptional({ type: 'integer', description: 'Number of open questions if there are several.', example: 2 })
  questions?: number;
  @ApiPropertyOptional({ ...TIME, description: 'Time at which the run continues by itself.' }) until?: string;
  @ApiPropertyOptional({
    description: 'Place among the runs that wait for a slot of the workflow (`concurrency`) or a limit.',
  })
  slot?: RunSlotWait;
}
