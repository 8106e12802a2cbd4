import { Controller, Get, Param } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProperty, ApiPropertyOptional, ApiTags } from '@nestjs/swagger';
import { Scope } from '#libs/access';
import { ApiProblem } from '#libs/http-server';
import { begunTask, type TaskScope, TaskStore } from '#libs/tasks';
import { revisionOf } from '#libs/workflow-engine';
import { FailureStreaks, type RunEnd } from '../storage/failure-streaks.js';
import { WorkflowStore } from '../storage/workflow-store.js';
import { RUN_ID } from './run.dto.js';
import { unknownWorkflow } from './runs.js';

class EndedRunView {
  @ApiProperty(RUN_ID) runId!: string;
  @ApiPropertyOptional({ description: 'Revision that the run was started with.', example: '7' }) revision?: string;
  @ApiProperty({ format: 'date-time' }) endedAt!: string;
}

/** Failures of a workflow since its last completed run. */
class WorkflowFailures {
  @ApiProperty({ type: 'integer', description: 'Failed runs since the last completed one.', example: 3 })
  failures!: number;
  @ApiPropertyOptional({
    type: EndedRunView,
    description: 'Earliest of these failed runs; the workflow has failed since the revision of this run.',
  })
  first?: EndedRunView;
  @ApiPropertyOptional({
    type: EndedRunView,
    description: 'Last completed run; absent if none of the searched runs completed.',
  })
  completed?: EndedRunView;
  @ApiProperty({
    description: 'True if none of the newest 1,000 runs completed; older runs are not searched.',
    example: false,
  })
  more!: boolean;
}

/** Controller that reports how long a caller's runs of a workflow have failed, and since which revision. */
@ApiTags('runs')
@Controller('api/workflows/:name/failures')
export class WorkflowFailuresController {
  constructor(
    private readonly store: WorkflowStore,
    private readonly streaks: FailureStreaks,
    private readonly tasks: TaskStore,
  ) {}

  @Get()
  @ApiOperation({
    summary: "Reports since which revision the caller's runs of a workflow fail.",
    description: 'Counts the failed runs since the last completed one. Canceled runs and open runs do not count.',
  })
  @ApiOkResponse({ type: WorkflowFailures })
  @ApiProblem(404, 'workflow not found')
  async getWorkflowFailures(@Param('name') name: string, @Scope() scope: TaskScope): Promise<WorkflowFailures> {
    const workflow = await this.store.inTenant(scope.tenant).get(name);
    if (!workflow) throw unknownWorkflow();
    const { failures, more, first, completed } = await this.streaks.findStreak(scope, name, workflow.createdAt);
    return {
      failures,
      ...(first && { first: await this.viewEnd(first) }),
      ...(completed && { completed: await this.viewEnd(completed) }),
      more,
    };
  }

  private async viewEnd({ runId, endedAt }: RunEnd): Promise<EndedRunView> {
    const task = await begunTask(this.tasks, runId);
    const revision = task && revisionOf(task);
    return { runId, ...(revision !== undefined && { revision }), endedAt: endedAt.toISOString() };
  }
}
