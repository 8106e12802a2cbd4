import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';

const TIME = { format: 'date-time', example: '2026-01-31T09:30:00.000Z' };

class RunSlotWait {
  @ApiProperty({ type: 'integer', description: 'Maximum number of runs that are under way.', example: 1 })
  limit!: number;
  @ApiPropertyOptional({ description: 'Beginning of the value of `concurrency.key`.', example: 'acme' }) key?: string;
  @ApiProperty({ type: 'integer', description: '1: the run begins next. At most 1000 are counted.', example: 3 })
  place!: number;
  @ApiProperty(TIME) since!: string;
}

/** Reason why a run waits: a question, a time, or a slot. */
export class RunWaitView {
  @ApiPropertyOptional({ description: 'Instance that asks first.', example: 'gate' }) instance?: string;
  @ApiPropertyOptional({ description: 'Beginning of its question.', example: 'Publish?' }) question?: string;
  @ApiPropertyOptional({ type: 'integer', description: 'Number of open questions if there are several.', example: 2 })
  questions?: number;
  @ApiPropertyOptional({ ...TIME, description: 'Time at which the run continues by itself.' }) until?: string;
  @ApiPropertyOptional({ description: 'Place among the runs that wait for others to end (`concurrency`).' })
  slot?: RunSlotWait;
}
