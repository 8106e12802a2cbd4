import { Body, Controller, HttpCode, Post, Query } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Scope } from '#libs/access';
import { ApiProblem, malformedRequest, type ProblemEntry, QueryFlag } from '#libs/http';
import type { TaskScope } from '#libs/tasks';
import { AppliedView, ApplyBody } from './apply-body.js';
import { APPLY_EXAMPLES } from './body-examples.js';
import { WorkflowApply } from './workflow-apply.js';

/** Query parameters of `POST /api/apply`. */
class ApplyQuery {
  @QueryFlag({ description: 'Whether it is only said what would be done.' })
  dryRun = false;
}

/** Applies workflows that are kept in files. */
@ApiTags('workflows')
@Controller('api/apply')
export class ApplyController {
  constructor(private readonly workflows: WorkflowApply) {}

  @Post()
  @HttpCode(200)
  @ApiOperation({
    summary: 'Saves several workflows, all of them or none.',
    description: 'What is as it was sent stays as it is, and gets no new revision.',
  })
  @ApiBody({ type: ApplyBody, examples: APPLY_EXAMPLES })
  @ApiOkResponse({ type: AppliedView })
  @ApiProblem(400, 'The body is malformed.')
  @ApiProblem(412, 'A workflow has another revision than was expected, or `adopt` is false and it is not of this mark.')
  @ApiProblem(422, 'A graph is invalid: one entry per problem.')
  applyWorkflows(
    @Body() body: ApplyBody,
    @Query() { dryRun }: ApplyQuery,
    @Scope() { tenant }: TaskScope,
  ): Promise<AppliedView> {
    const wrong = [...repeatedNames(body), ...missingMark(body)];
    if (wrong.length > 0) throw malformedRequest(...wrong);
    return this.workflows.applyWorkflows(body, dryRun, tenant);
  }
}

function repeatedNames({ workflows }: ApplyBody): ProblemEntry[] {
  const first = new Map<string, number>();
  return workflows.flatMap(({ definition: { name } }, index) => {
    const before = first.get(name);
    if (before === undefined) first.set(name, index);
    const path = `workflows[${index}].definition.name`;
    return before === undefined ? [] : [{ path, detail: `is that of workflows[${before}] as well` }];
  });
}

/** Rejects `prune` without a mark: the mark says which workflows may be deleted. */
function missingMark({ mark, prune }: ApplyBody): ProblemEntry[] {
  return prune === true && mark === undefined ? [{ path: 'mark', detail: 'is needed where prune is true' }] : [];
}
