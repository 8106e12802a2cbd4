import { Body, Controller, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type ApiCall, Call, Scope } from '#libs/access';
import { ApiEventStream, ApiIdempotent, ApiLargeAnswer, ApiProblem, Cursor, type StreamCursor } from '#libs/http';
import { IdempotencyKey, ProcessStreams } from '#libs/process';
import type { TaskScope } from '#libs/tasks';
import type { FastifyReply } from 'fastify';
import type { WorkflowDefinition } from '../workflow.js';
import { RERUN_EXAMPLES } from './body-examples.js';
import {
  CanceledRun,
  InstancesQuery,
  RerunBody,
  RunDetail,
  RunEventsQuery,
  RunForks,
  RunInstances,
  RunNodeDetail,
  RunPage,
  RunQuery,
  StartedRerun,
} from './run.dto.js';
import { RunList } from './run-list.js';
import { runEvents } from './run-task.js';
import { Reruns } from './reruns.js';
import { Runs } from './runs.js';
import { WorkflowBody } from './workflow-body.js';

/** Lists, shows, cancels and reruns the runs of all workflows. */
@ApiTags('runs')
@Controller('api/runs')
export class RunsController {
  constructor(
    private readonly runs: Runs,
    private readonly reruns: Reruns,
    private readonly runList: RunList,
    private readonly streams: ProcessStreams,
  ) {}

  @Get()
  @ApiOperation({ summary: 'Runs, the one that changed last first.' })
  @ApiOkResponse({ type: RunPage })
  @ApiProblem(400, 'A parameter is malformed.')
  @ApiLargeAnswer()
  listRuns(@Query() query: RunQuery, @Call() call: ApiCall): Promise<RunPage> {
    return this.runList.listRuns(query, call);
  }

  @Get(':id')
  @ApiOperation({ summary: "One run with every node's state." })
  @ApiOkResponse({ type: RunDetail })
  @ApiProblem(404, 'run not found')
  @ApiLargeAnswer()
  getRun(@Param('id') id: string, @Call() call: ApiCall): Promise<RunDetail> {
    return this.runs.viewRun(id, call);
  }

  @Get(':id/workflow')
  @ApiOperation({ summary: 'The workflow as it was when the run was started.' })
  @ApiOkResponse({ type: WorkflowBody })
  @ApiProblem(404, 'run not found')
  getRunWorkflow(@Param('id') id: string, @Scope() scope: TaskScope): Promise<WorkflowDefinition> {
    return this.runs.readRunDefinition(id, scope);
  }

  @Get(':id/nodes/:node')
  @ApiOperation({ summary: 'One node of a run, with what it was sent.' })
  @ApiOkResponse({ type: RunNodeDetail })
  @ApiProblem(404, 'run not found, or node not found')
  @ApiLargeAnswer()
  getRunNode(@Param('id') id: string, @Param('node') node: string, @Call() call: ApiCall): Promise<RunNodeDetail> {
    return this.runs.viewNode(id, node, call);
  }

  @Get(':id/instances')
  @ApiOperation({
    summary: "The instances of a run's nodes: one of most, and one for each iteration and entry of a list.",
  })
  @ApiOkResponse({ type: RunInstances })
  @ApiProblem(400, 'A parameter is malformed.')
  @ApiProblem(404, 'run not found')
  @ApiLargeAnswer()
  listInstances(@Param('id') id: string, @Query() query: InstancesQuery, @Call() call: ApiCall): Promise<RunInstances> {
    return this.runs.listInstances(id, query, call);
  }

  @Get(':id/events')
  @ApiEventStream("A run's events, from the first one or after a cursor, then live until it has ended.", '`done`')
  @ApiProblem(404, 'run not found')
  async streamRunEvents(
    @Param('id') id: string,
    @Cursor() cursor: StreamCursor,
    @Query() { live }: RunEventsQuery,
    @Scope() scope: TaskScope,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const run = await this.runs.findHeader(id, scope);
    const events = this.streams.eventsOf(run, runEvents(run.workflow), live ? 'terminal' : 'now');
    await this.streams.streamEvents(events, cursor, reply);
  }

  @Post(':id/rerun')
  @HttpCode(202)
  @ApiOperation({
    summary: 'Starts a new run that takes over results of one that has ended.',
    description:
      'What is named in `from`, and with `failed` what failed, is run anew with everything after it; without a body everything is. ' +
      'With other `inputs` or another `revision` also whatever these change.',
  })
  @ApiBody({ type: RerunBody, required: false, examples: RERUN_EXAMPLES })
  @ApiAcceptedResponse({ type: StartedRerun })
  @ApiIdempotent('run')
  @ApiProblem(400, 'The body is malformed.')
  @ApiProblem(404, 'run not found')
  @ApiProblem(409, 'The run has not ended.')
  @ApiProblem(422, 'There is no such instance or revision, or the inputs do not fit.')
  @ApiLargeAnswer()
  async startRerun(
    @Param('id') id: string,
    @Body() body: RerunBody,
    @IdempotencyKey() key: string | undefined,
    @Call() call: ApiCall,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<StartedRerun> {
    const run = await this.reruns.startRerun(id, body ?? {}, call, key);
    void reply.header('location', `/api/runs/${run.runId}`);
    return run;
  }

  @Get(':id/forks')
  @ApiOperation({ summary: 'The runs that began with a run.' })
  @ApiOkResponse({ type: RunForks })
  @ApiProblem(404, 'run not found')
  @ApiLargeAnswer()
  listForks(@Param('id') id: string, @Call() call: ApiCall): Promise<RunForks> {
    return this.reruns.listForks(id, call);
  }

  @Post(':id/cancel')
  @HttpCode(200)
  @ApiOperation({ summary: 'Cancels a run and tells what became of each remote Task.' })
  @ApiOkResponse({ type: CanceledRun })
  @ApiProblem(404, 'run not found')
  @ApiProblem(409, 'The run has ended otherwise.')
  @ApiLargeAnswer()
  cancelRun(@Param('id') id: string, @Call() call: ApiCall): Promise<CanceledRun> {
    return this.runs.cancelRun(id, call);
  }
}
