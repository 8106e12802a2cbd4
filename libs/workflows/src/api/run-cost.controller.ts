import { Controller, Get, Param } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProperty, ApiPropertyOptional, ApiTags } from '@nestjs/swagger';
import { Scope } from '#libs/access';
import { ApiLargeAnswer, ApiProblem } from '#libs/http-server';
import { type SpentTask, type TaskScope, TaskUsage } from '#libs/tasks';
import { Runs } from './runs.js';
import { UsageView } from './usage.dto.js';

/** Maximum number of Tasks of a cost tree. */
const MOST_TASKS = 500;

/** Task of a cost tree. */
class CostTask {
  @ApiProperty({ example: '019a2b3c-0000-7000-8000-000000000001' }) taskId!: string;
  @ApiPropertyOptional({
    description: 'Task that made the call; absent for the run itself.',
    example: '019a2b3c-0000-7000-8000-000000000000',
  })
  parentTaskId?: string;
  @ApiProperty({
    description: 'Path of the agent of the Task, under `/a2a`.',
    example: 'workflows/greeting/nodes/writer',
  })
  agent!: string;
  @ApiPropertyOptional({ description: 'Instance of the node, if a run made the call.', example: 'writer' })
  instance?: string;
  @ApiPropertyOptional({ type: 'integer', description: 'Attempt of the instance, from 1.', example: 1 })
  attempt?: number;
  @ApiProperty({ type: 'integer', description: 'Number of calls from the run to the Task.', example: 1 })
  depth!: number;
  @ApiProperty({ description: 'Sums of the model calls of the Task and of all Tasks below it.' }) usage!: UsageView;
}

/** Tasks of a run that have called models, with their cost. */
export class RunCost {
  @ApiProperty({ type: [CostTask], description: 'The run first; each Task is followed by the Tasks that it called.' })
  tasks!: CostTask[];
  @ApiProperty({
    description: `True if the run has more than ${MOST_TASKS} such Tasks; the deepest are omitted.`,
    example: false,
  })
  more!: boolean;
}

/** Reports where the cost of a run arose: its nodes, the agents that they call, and child runs. */
@ApiTags('runs')
@Controller('api/runs/:id/cost')
export class RunCostController {
  constructor(
    private readonly runs: Runs,
    private readonly usage: TaskUsage,
  ) {}

  @Get()
  @ApiOperation({
    summary: 'Returns the tokens and the cost of a run as a tree of Tasks.',
    description:
      'Contains the Tasks that have called models, or whose Tasks below have. Empty for a run without calls.',
  })
  @ApiOkResponse({ type: RunCost })
  @ApiProblem(404, 'run not found')
  @ApiLargeAnswer()
  async getRunCost(@Param('id') id: string, @Scope() scope: TaskScope): Promise<RunCost> {
    const { taskId } = await this.runs.findHeader(id, scope);
    const found = await this.usage.readTree(taskId, scope, MOST_TASKS + 1);
    return { tasks: toTree(found.slice(0, MOST_TASKS)), more: found.length > MOST_TASKS };
  }
}

/** Puts each Task behind its caller and in front of the next Task of that caller. */
function toTree(found: readonly SpentTask[]): CostTask[] {
  const below = Map.groupBy(found, ({ parentTaskId = '' }) => parentTaskId);
  const tree: CostTask[] = [];
  const open = (below.get('') ?? []).map((task) => ({ task, depth: 0 }));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { task, depth } = next;
    tree.push(toCostTask(task, depth));
    const called = (below.get(task.taskId) ?? []).map((child) => ({ task: child, depth: depth + 1 }));
    open.push(...called.reverse());
  }
  return tree;
}

function toCostTask({ parentReference = '', sums, ...task }: SpentTask, depth: number): CostTask {
  const [, instance, attempt] = /^(.+)#(\d+)$/.exec(parentReference) ?? [];
  return { ...task, ...(instance !== undefined && { instance, attempt: Number(attempt) }), depth, usage: sums };
}
