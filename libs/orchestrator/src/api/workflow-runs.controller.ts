import { Body, Controller, HttpCode, Logger, Param, Post, Query, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiBody, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type ApiCall, Call } from '#libs/access';
import { ApiEvents, ApiIdempotent, ApiProblem } from '#libs/http';
import { IdempotencyKey, ProcessStreams } from '#libs/process';
import type { FastifyReply } from 'fastify';
import { RunBody, RunStreamQuery, StartedRun } from './run.dto.js';
import { runEvents } from './run-task.js';
import { Runs } from './runs.js';

/** Starts runs of a workflow. */
@ApiTags('runs')
@Controller('api/workflows/:name')
@ApiProblem(404, 'workflow not found')
export class WorkflowRunsController {
  private readonly logger = new Logger(WorkflowRunsController.name);

  constructor(
    private readonly runs: Runs,
    private readonly streams: ProcessStreams,
  ) {}

  @Post('runs')
  @HttpCode(202)
  @ApiOperation({ summary: 'Starts a run and answers at once.' })
  @ApiBody({ type: RunBody, required: false })
  @ApiAcceptedResponse({ type: StartedRun })
  @ApiIdempotent('run')
  @ApiProblem(400, 'The body is malformed.')
  @ApiProblem(422, 'An input is missing, unknown or invalid: one entry each.')
  async startRun(
    @Param('name') name: string,
    @Body() { inputs }: RunBody,
    @IdempotencyKey() key: string | undefined,
    @Call() call: ApiCall,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<StartedRun> {
    const run = await this.runs.startRun(name, inputs ?? {}, call, key);
    void reply.header('location', `/api/runs/${run.taskId}`);
    return { runId: run.taskId };
  }

  @Post('run')
  @ApiOperation({
    summary: 'Starts a run and streams its events until it has ended.',
    description: 'A body that is empty or no JSON stands for no inputs. Disconnecting does not stop the run.',
  })
  @ApiBody({ type: RunBody, required: false })
  @ApiEvents('`done`')
  @ApiIdempotent('run')
  @ApiProblem(400, 'The parameter is malformed, or the inputs are nested too deep.')
  @ApiProblem(422, 'An input is missing, unknown or invalid: one entry each.')
  async runWorkflow(
    @Param('name') name: string,
    @Body() body: unknown,
    @Query() { cancelOnDisconnect }: RunStreamQuery,
    @IdempotencyKey() key: string | undefined,
    @Call() call: ApiCall,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { inputs } = RunBody.readLeniently(body);
    const run = await this.runs.startRun(name, inputs ?? {}, call, key);
    void reply.header('location', `/api/runs/${run.taskId}`);
    const events = this.streams.eventsOf({ ...run, lastSequence: 0 }, runEvents(name));
    const end = await this.streams.streamEvents(events, { after: 0, field: 'since' }, reply);
    if (end === 'left' && cancelOnDisconnect) await this.cancelAbandonedRun(run.taskId, call);
  }

  /** Cancels a run whose reader has disconnected. The cancel must not wait for that reader. */
  private async cancelAbandonedRun(runId: string, { whenAnswered: _reader, ...call }: ApiCall): Promise<void> {
    try {
      await this.runs.stopRun(runId, call);
    } catch (error) {
      this.logger.warn({ err: error, runId }, 'A run whose reader left could not be canceled');
    }
  }
}
