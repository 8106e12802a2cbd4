import { Body, Controller, HttpCode, Logger, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiBody, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { type ApiCall, apiCall } from '#libs/access';
import { ApiEvents, ApiIdempotent, ApiProblem, readBody, readFlag, ServiceAddress } from '#libs/http';
import { IdempotencyKey, ProcessStreams } from '#libs/process';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { RUN_STARTED_SCHEMA } from './api-schemas.js';
import { RunBody } from './run-body.js';
import { runEvents } from './run-task.js';
import { Runs } from './runs.js';

/** Starts runs. */
@ApiTags('runs')
@Controller('api/workflows/:name')
@ApiProblem(404, 'workflow not found')
export class WorkflowRunsController {
  private readonly logger = new Logger(WorkflowRunsController.name);

  constructor(
    private readonly runs: Runs,
    private readonly streams: ProcessStreams,
    private readonly address: ServiceAddress,
  ) {}

  @Post('runs')
  @HttpCode(202)
  @ApiOperation({ summary: 'Starts a run and answers at once.' })
  @ApiBody({ type: RunBody, required: false })
  @ApiAcceptedResponse({ schema: RUN_STARTED_SCHEMA })
  @ApiIdempotent('run')
  @ApiProblem(400, 'The body is malformed.')
  async start(
    @Param('name') name: string,
    @Body() body: unknown,
    @IdempotencyKey() key: string | undefined,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<{ runId: string }> {
    const { inputs } = readBody(RunBody, body ?? {});
    const run = await this.runs.start(name, inputs ?? {}, apiCall(request, this.address), key);
    void reply.header('location', `/api/runs/${run.taskId}`);
    return { runId: run.taskId };
  }

  @Post('run')
  @ApiOperation({
    summary: 'Starts a run and streams its events until it has ended.',
    description: 'A body that is empty or no JSON stands for no inputs. Disconnecting does not stop the run.',
  })
  @ApiBody({ type: RunBody, required: false })
  @ApiQuery({ name: 'cancelOnDisconnect', required: false, enum: ['true', 'false'] })
  @ApiEvents('`done`')
  async run(
    @Param('name') name: string,
    @Body() body: unknown,
    @Query() query: Record<string, unknown>,
    @IdempotencyKey() key: string | undefined,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const cancelOnDisconnect = readFlag(query, 'cancelOnDisconnect');
    const { inputs } = RunBody.lenient(body);
    const call = apiCall(request, this.address);
    const run = await this.runs.start(name, inputs ?? {}, call, key);
    void reply.header('location', `/api/runs/${run.taskId}`);
    const end = await this.streams.send(this.streams.eventsOf({ ...run, lastSequence: 0 }, runEvents(run)), 0, reply);
    if (end === 'left' && cancelOnDisconnect) await this.abandon(run.taskId, call);
  }

  private async abandon(runId: string, call: ApiCall): Promise<void> {
    try {
      await this.runs.cancel(runId, call);
    } catch (error) {
      this.logger.warn({ err: error, runId }, 'A run whose reader left could not be canceled');
    }
  }
}
