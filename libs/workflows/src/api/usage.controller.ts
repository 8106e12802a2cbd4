import { Controller, Get, Injectable, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Caller } from '#libs/access';
import { ApiProblem, ProblemError } from '#libs/http-server';
import { type TaskScope, TaskUsage, type TaskUsageSums } from '#libs/tasks';
import { type RunUsage, UsageReport, UsageRequest } from './usage.dto.js';

/** Maximum number of groups of a report. */
const MOST_GROUPS = 1_000;

/** Adds the usage of models (calls, tokens and cost) to runs in API responses. */
@Injectable()
export class RunUsages {
  constructor(private readonly usage: TaskUsage) {}

  /** Returns runs with the sums of their model calls. A run without model calls is returned unchanged. */
  async addUsage<R extends { runId: string; workflow: string }>(
    runs: readonly R[],
    scope: TaskScope,
  ): Promise<(R & { usage?: RunUsage })[]> {
    const tasks = runs.map(({ runId: taskId, workflow }) => ({ taskId, workflow }));
    const found = await this.usage.readTasks(scope, tasks);
    return runs.map((run) => {
      const sums = found.get(run.runId);
      return sums ? { ...run, usage: toRunUsage(sums) } : run;
    });
  }
}

function toRunUsage({ own, total, models }: TaskUsageSums): RunUsage {
  return { ...total, own, models: models.map(({ key, ...sums }) => ({ model: key, ...sums })) };
}

/** Reports the tokens and the cost of calls of models. */
@ApiTags('usage')
@Controller('api/usage')
export class UsageController {
  constructor(private readonly usage: TaskUsage) {}

  @Get()
  @ApiOperation({
    summary: 'Reports tokens and cost by day, workflow, model or caller.',
    description: 'The sums of a day stay the same when runs are deleted.',
  })
  @ApiOkResponse({ type: UsageReport })
  @ApiProblem(400, 'A parameter is malformed.')
  @ApiProblem(403, '`callers` is `all`, and the caller lacks the scope `admin`.')
  async reportUsage(
    @Query() query: UsageRequest,
    @Caller() { tenant, owner, permissions }: Caller,
  ): Promise<UsageReport> {
    const { groupBy, callers } = query;
    const days = query.daysAt(new Date());
    if (callers === 'all' && !permissions.has('admin'))
      throw new ProblemError(403, 'callers=all needs a key with the scope admin');
    const whose = { tenant, owner, isWholeTenant: callers === 'all' };
    const { total, groups } = await this.usage.sumDays({ ...whose, ...days, groupBy, limit: MOST_GROUPS + 1 });
    return { ...days, total, groups: groups.slice(0, MOST_GROUPS), more: groups.length > MOST_GROUPS };
  }
}
