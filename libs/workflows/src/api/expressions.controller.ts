import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiProperty, ApiPropertyOptional, ApiTags } from '@nestjs/swagger';
import { IsObject, IsOptional, IsString } from 'class-validator';
import { ANY_JSON, ApiClosed, ApiProblem, malformedRequest } from '#libs/http-server';
import type { JsonObject, JsonValue } from '#libs/protocol';
import {
  checkAlone,
  checkInDefinition,
  type ExpressionPlace,
  type ExpressionVariable,
  readDefinition,
  type WorkflowDefinition,
  type WorkflowProblem,
} from '#libs/workflow-definition';
import { EXPRESSION_EXAMPLES } from './body-examples.js';
import { WorkflowProblemView } from './workflow-body.js';

/** Body of `POST /api/expressions/check`: a CEL expression or a template, and its place in a definition. */
@ApiClosed()
class ExpressionBody {
  static readonly unknown = 'is not a member of a check';

  @ApiPropertyOptional({ description: 'CEL expression.', example: "nodes.gate.data.decision == 'yes'" })
  @IsOptional()
  @IsString({ message: 'must be a string' })
  expression?: string;

  @ApiPropertyOptional({
    ...ANY_JSON,
    description: 'Alternative to an expression: JSON whose strings may contain ${expressions} and {{references}}.',
    example: { text: 'Draft ${iteration} of {{topic}}' },
  })
  @IsOptional()
  template?: JsonValue;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description: 'Definition that contains the expression; it may have other errors.',
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
    description: 'Path of the expression in the definition, in an existing node or edge.',
    example: 'edges[0].when',
  })
  @IsOptional()
  @IsString({ message: 'must be a string' })
  path?: string;
}

/** A variable that an expression may use. */
class ExpressionVariableView implements ExpressionVariable {
  @ApiProperty({ example: 'nodes' })
  name!: string;

  @ApiPropertyOptional({
    type: [String],
    description: 'Members that may follow the name; absent: all members of the value.',
    example: ['gate'],
  })
  members?: string[];

  @ApiPropertyOptional({ type: [String], description: 'Names that may follow each member.', example: ['text', 'data'] })
  fields?: string[];
}

/** Response of `POST /api/expressions/check`: the problems of the expression, and the variables that it may use. */
class ExpressionProblems {
  @ApiProperty({ type: [WorkflowProblemView] })
  problems!: WorkflowProblem[];

  @ApiProperty({ type: [ExpressionVariableView], description: 'Variables at the path; empty without a path.' })
  variables!: ExpressionVariable[];
}

/** Checks CEL expressions and templates while they are being edited. */
@ApiTags('workflows')
@Controller('api/expressions')
export class ExpressionsController {
  @Post('check')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Checks an expression, or a string that contains some, and lists the variables at its path.',
    description:
      'The definition may have other errors. Without a definition or a path, only the syntax and the names of ' +
      'variables are checked.',
  })
  @ApiBody({ type: ExpressionBody, examples: EXPRESSION_EXAMPLES })
  @ApiOkResponse({ type: ExpressionProblems })
  @ApiProblem(400, 'The body or its definition is malformed, or the path names nothing.')
  checkExpression(@Body() { expression, template, definition: sent, path }: ExpressionBody): ExpressionProblems {
    const content = expressionContent(expression ?? undefined, template);
    const definition = sent ? definitionIn(sent) : undefined;
    if (definition === undefined || (path ?? '') === '') return checkAlone(content, definition);
    const checked = checkInDefinition(content, definition, path ?? '');
    if (checked) return checked;
    throw malformedRequest({
      path: 'path',
      detail: 'must be the path of a member of a node or an edge of the definition',
    });
  }
}

function expressionContent(
  expression: string | undefined,
  template: ExpressionBody['template'],
): ExpressionPlace['content'] {
  if (expression !== undefined && template === undefined) return { expression };
  if (expression === undefined && template !== undefined) return { template };
  throw malformedRequest({ path: 'expression', detail: 'must be there, or else a template' });
}

function definitionIn(sent: object): WorkflowDefinition {
  const read = readDefinition(sent);
  if (!Array.isArray(read)) return read;
  throw malformedRequest(...read.map(({ path, detail }) => ({ path: `definition.${path}`, detail })));
}
