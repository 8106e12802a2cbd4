import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { withMembers } from '#libs/http';
import { isJsonObject, type JsonObject } from '#libs/protocol';
import { IsIn, IsNumber, IsObject, IsOptional, IsString, ValidateNested } from 'class-validator';
import type { OutcomeFilter } from '../workflow.js';

export const OUTCOMES: OutcomeFilter[] = ['success', 'failure', 'always'];
export const OUTCOME_RULE = 'must be "success", "failure" or "always"';

export class LoopBody {
  @ApiProperty({ type: 'integer', minimum: 1, maximum: 100, example: 5 })
  @IsNumber({}, { message: 'must be a number' })
  max_iterations!: number;

  @ApiPropertyOptional({ description: 'CEL that gives true or false.', example: 'nodes.review.data.good' })
  @IsOptional()
  @IsString({ message: 'must be a string' })
  exit_when?: string;

  @ApiPropertyOptional({ example: '10s' })
  @IsOptional()
  @IsString({ message: 'must be a string' })
  delay?: string;

  @ApiPropertyOptional({ enum: ['continue', 'fail'], default: 'continue' })
  @IsOptional()
  @IsIn(['continue', 'fail'], { message: 'must be "continue" or "fail"' })
  on_max?: 'continue' | 'fail';

  @ApiPropertyOptional({ example: 'There is no draft yet.' })
  @IsOptional()
  @IsString({ message: 'must be a string' })
  initial?: string;
}

export class WorkflowEdgeBody {
  @ApiProperty({ description: 'The id of a node.', example: 'topic' })
  @IsString({ message: 'must be a string' })
  from!: string;

  @ApiProperty({ description: 'The id of a node.', example: 'writer' })
  @IsString({ message: 'must be a string' })
  to!: string;

  @ApiPropertyOptional({ description: 'CEL that gives true or false.', example: "nodes.gate.data.decision == 'yes'" })
  @IsOptional()
  @IsString({ message: 'must be a string' })
  when?: string;

  @ApiPropertyOptional({ enum: OUTCOMES, default: 'success' })
  @IsOptional()
  @IsIn(OUTCOMES, { message: OUTCOME_RULE })
  on?: OutcomeFilter;

  @ApiPropertyOptional({
    type: LoopBody,
    description: 'Makes it an edge back, which repeats what lies between its ends.',
  })
  @IsOptional()
  @IsObject({ message: 'must be an object' })
  @ValidateNested({ message: 'must be an object' })
  loop?: LoopBody;

  static from(sent: JsonObject): WorkflowEdgeBody {
    const edge = withMembers(WorkflowEdgeBody, sent);
    const { loop } = sent;
    return isJsonObject(loop) ? Object.assign(edge, { loop: withMembers(LoopBody, loop) }) : edge;
  }
}
