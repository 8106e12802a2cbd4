import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiProblem, malformedRequest } from '#libs/http';
import { checkAlone, checkInDefinition } from '../expressions/expression-check.js';
import type { ExpressionPlace } from '../expressions/expression-places.js';
import { readDefinition } from '../sent-definition.js';
import type { WorkflowDefinition } from '../workflow.js';
import { EXPRESSION_EXAMPLES } from './body-examples.js';
import { ExpressionBody, ExpressionProblems } from './expression-body.js';

/** Checks expressions while they are being edited. */
@ApiTags('workflows')
@Controller('api/expressions')
export class ExpressionsController {
  @Post('check')
  @HttpCode(200)
  @ApiOperation({
    summary:
      'Says what is wrong with an expression, or with a text that has some, and what may be named where it stands.',
    description:
      'The definition around it may have other errors. Without a definition and a path only its syntax is checked.',
  })
  @ApiBody({ type: ExpressionBody, examples: EXPRESSION_EXAMPLES })
  @ApiOkResponse({ type: ExpressionProblems })
  @ApiProblem(400, 'The body is malformed, or its definition, or there is nothing at the path.')
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
