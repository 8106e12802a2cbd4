import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { JsonObject, JsonValue } from '#libs/protocol';
import { IsObject, IsOptional, IsString } from 'class-validator';
import type { ExpressionVariable } from '../expressions/expression-check.js';
import type { WorkflowProblem } from '../workflow-problem.js';
import { WorkflowProblemView } from './workflow-body.js';

/** An expression or a template, and its place in a definition. */
export class ExpressionBody {
  @ApiPropertyOptional({ description: 'CEL.', example: "nodes.gate.data.decision == 'yes'" })
  @IsOptional()
  @IsString({ message: 'must be a string' })
  expression?: string;

  @ApiPropertyOptional({
    description: 'In place of an expression: JSON of which the texts may have ${expressions}, and {{references}}.',
    example: { text: 'Draft ${iteration} of {{topic}}' },
  })
  @IsOptional()
  template?: JsonValue;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description: 'The definition that it stands in, which may have other errors.',
    example: {
      name: 'publish',
      nodes: [
        { id: 'gate', type: 'human' },
        { id: 'out', type: 'output' },
      ],
      edges: [{ from: 'gate', to: 'out' }],
    },
  })
  @IsOptional()
  @IsObject({ message: 'must be an object' })
  definition?: JsonObject;

  @ApiPropertyOptional({
    description: 'Where in the definition it stands, or will stand: of a node or an edge that is there.',
    examples: ['edges[0].when', 'nodes[1].each.items', 'nodes[1].config.prompt'],
  })
  @IsOptional()
  @IsString({ message: 'must be a string' })
  path?: string;
}

/** A variable that an expression may use. */
export class ExpressionVariableView implements ExpressionVariable {
  @ApiProperty({ example: 'nodes' })
  name!: string;

  @ApiPropertyOptional({
    type: [String],
    description: 'What may stand behind it; absent: whatever the value has.',
    example: ['gate'],
  })
  members?: string[];

  @ApiPropertyOptional({ type: [String], description: 'What may stand behind each member.', example: ['text', 'data'] })
  fields?: string[];
}

/** Problems of an expression, and the variables that are available to it. */
export class ExpressionProblems {
  @ApiProperty({ type: [WorkflowProblemView] })
  problems!: WorkflowProblem[];

  @ApiProperty({ type: [ExpressionVariableView], description: 'What there is at the path; empty without one.' })
  variables!: ExpressionVariable[];
}
