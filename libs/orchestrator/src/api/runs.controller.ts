import { Controller, Get, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { apiCall, scopeOf } from '#libs/access';
import { ApiEventStream, ApiPages, ApiProblem, ServiceAddress } from '#libs/http';
import { ProcessStreams } from '#libs/process';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { NodeDetail, RunView } from '../run-view.js';
import type { WorkflowDefinition } from '../workflow.js';
import { CANCEL_SCHEMA, NODE_DETAIL_SCHEMA, RUN_PAGE_SCHEMA, RUN_SCHEMA } from './api-schemas.js';
import { RunList, type RunPage } from './run-list.js';
import { readRunQuery, STATES_OF } from './run-query.js';
import { runEvents } from './run-task.js';
import { type CancelReport, Runs } from './runs.js';
import { WorkflowBody } from './workflow-body.js';

/** Runs of all workflows. */
@ApiTags('runs')
@Controller('api/runs')
export class RunsController {
  constructor(
    private readonly runs: Runs,
    private readonly runList: RunList,
    private readonly streams: ProcessStreams,
    private readonly address: ServiceAddress,
  ) {}

  @Get()
  @ApiPages('Runs, the one that changed last first.', RUN_PAGE_SCHEMA)
  @ApiQuery({ name: 'workflow', required: false })
  @ApiQuery({ name: 'status', required: false, enum: Object.keys(STATES_OF) })
  async list(@Query() query: Record<string, unknown>, @Req() request: FastifyRequest): Promise<RunPage> {
    return this.runList.page(readRunQuery(query), scopeOf(request.raw));
  }

  @Get(':id')
  @ApiOperation({ summary: "One run with every node's state." })
  @ApiOkResponse({ schema: RUN_SCHEMA })
  @ApiProblem(404, 'run not found')
  async get(@Param('id') id: string, @Req() request: FastifyRequest): Promise<RunView> {
    return this.runs.show(id, apiCall(request, this.address));
  }

  @Get(':id/workflow')
  @ApiOperation({ summary: 'The workflow as it was when the run was started.' })
  @ApiOkResponse({ type: WorkflowBody })
  @ApiProblem(404, 'run not found')
  async workflow(@Param('id') id: string, @Req() request: FastifyRequest): Promise<WorkflowDefinition> {
    return this.runs.workflow(id, scopeOf(request.raw));
  }

  @Get(':id/nodes/:node')
  @ApiOperation({ summary: 'One node of a run, with what it was sent.' })
  @ApiOkResponse({ schema: NODE_DETAIL_SCHEMA })
  @ApiProblem(404, 'run not found, or node not found')
  async node(
    @Param('id') id: string,
    @Param('node') node: string,
    @Req() request: FastifyRequest,
  ): Promise<NodeDetail> {
    return this.runs.node(id, node, apiCall(request, this.address));
  }

  @Get(':id/events')
  @ApiEventStream("A run's events, from the first one or after a cursor, then live until it has ended.", '`done`')
  @ApiProblem(404, 'run not found')
  async events(@Param('id') id: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    await this.streams.answer(request, reply, async () => {
      const run = await this.runs.header(id, scopeOf(request.raw));
      return this.streams.eventsOf(run, runEvents(run));
    });
  }

  @Post(':id/cancel')
  @HttpCode(200)
  @ApiOperation({ summary: 'Cancels a run and tells what became of each remote Task.' })
  @ApiOkResponse({ schema: CANCEL_SCHEMA })
  @ApiProblem(404, 'run not found')
  @ApiProblem(409, 'The run has ended otherwise.')
  async cancel(@Param('id') id: string, @Req() request: FastifyRequest): Promise<CancelReport> {
    return this.runs.cancel(id, apiCall(request, this.address));
  }
}
