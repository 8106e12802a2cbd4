import { Controller, Get, Injectable, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProperty, ApiTags } from '@nestjs/swagger';
import { Scope } from '#libs/access';
import { ApiProblem } from '#libs/http-server';
import { TASK_STATES } from '#libs/protocol';
import { TaskCounts, type TaskScope } from '#libs/tasks';
import { RunCountQuery } from './run-query.js';

/** Maximum number of runs that are counted one by one, for a filter by time. */
const MOST_COUNTED = 1_000;

/** Number of runs that a filter selects. */
export class RunCount {
  @ApiProperty({ type: 'integer', example: 1204 }) runs!: number;
  @ApiProperty({
    description: `True if there are more. With \`since\` or \`until\`, at most ${MOST_COUNTED.toLocaleString('en')} runs are counted.`,
    example: false,
  })
  more!: boolean;
}

/** Counts a caller's top-level runs. */
@Injectable()
export class RunCounter {
  constructor(private readonly counts: TaskCounts) {}

  /**
   * Counts runs. Without `since` and `until`, the count is exact and is read from stored counts. Otherwise at most
   * `MOST_COUNTED` runs are counted, and `more` is true if there are more.
   */
  async countRuns({ workflow, states, since, until }: RunCountQuery, scope: TaskScope): Promise<RunCount> {
    const filter = { scope, agent: `workflows/${workflow ?? '*'}` };
    if (!since && !until)
      return { runs: await this.counts.countTasks({ ...filter, ...(states && { states }) }), more: false };
    const found = await this.counts.countNewest({
      ...filter,
      states: states ?? TASK_STATES,
      ...(since && { updatedAfter: since }),
      ...(until && { updatedBefore: until }),
      limit: MOST_COUNTED + 1,
    });
    return { runs: Math.min(found, MOST_COUNTED), more: found > MOST_COUNTED };
  }
}

/** Counts the runs of all workflows. */
@ApiTags('runs')
@Controller('api/runs/count')
export class RunCountController {
  constructor(private readonly counter: RunCounter) {}

  @Get()
  @ApiOperation({ summary: 'Counts top-level runs.' })
  @ApiOkResponse({ type: RunCount })
  @ApiProblem(400, 'A parameter is malformed.')
  countRuns(@Query() query: RunCountQuery, @Scope() scope: TaskScope): Promise<RunCount> {
    return this.counter.countRuns(query, scope);
  }
}
