import {
  BadRequestException,
  Body,
  Controller,
  Get,
  HttpCode,
  Injectable,
  Logger,
  type OnModuleInit,
  Param,
  PayloadTooLargeException,
  Post,
  Query,
  Res,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { ApiAcceptedResponse, ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest, RequestPayload } from 'fastify';
import { Readable } from 'node:stream';
import { type ApiCall, Call, Scope } from '#libs/access';
import { IdempotencyKey, ProcessStreams } from '#libs/durable';
import {
  ApiEvents,
  ApiEventStream,
  ApiIdempotent,
  ApiLargeAnswer,
  ApiProblem,
  Cursor,
  hasMoreMembers,
  LOCATION_HEADER,
  type StreamCursor,
} from '#libs/http-server';
import { AppConfig } from '#libs/service';
import type { TaskScope } from '#libs/tasks';
import type { WorkflowDefinition } from '#libs/workflow-definition';
import { WorkflowBody } from './workflow-body.js';
import { runEvents } from '#libs/workflow-engine';
import { RERUN_EXAMPLES } from './body-examples.js';
import { Reruns } from './reruns.js';
import { RunDiffQuery, RunDiffs, RunDiffView } from './run-diff.js';
import { RunList } from './run-list.js';
import {
  CanceledRun,
  InstancesQuery,
  RerunBody,
  RunBody,
  RunDetail,
  RunEventsQuery,
  RunForks,
  RunInstances,
  RunNodeDetail,
  RunPage,
  RunStreamQuery,
  StartedRerun,
  StartedRun,
} from './run.dto.js';
import { RunQuery } from './run-query.js';
import { budgetMetadata, type RunInputs, Runs } from './runs.js';
import { RunUsages } from './usage.controller.js';
import { RunWaits } from '../storage/run-waits.js';

type PayloadCallback = (error: FastifyError | null, payload?: RequestPayload) => void;

const RUN_ROUTE = '/api/workflows/:name/run';

/**
 * Makes the service accept request bodies that Fastify would reject.
 * - An empty body anywhere in `/api` counts as no body, whatever its content type.
 * - A body of `POST /api/workflows/{name}/run` that is empty, or is declared as JSON and is not JSON, counts as no
 *   inputs.
 */
@Injectable()
export class RequestBodies implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly config: AppConfig,
  ) {}

  onModuleInit(): void {
    const fastify = this.host.httpAdapter.getInstance<FastifyInstance>();
    fastify.addHook('preParsing', (request, _reply, payload, done) => {
      // Requests to agents are frequent, and need none of these changes.
      if (request.url.startsWith('/a2a')) return done(null, payload);
      const route = request.routeOptions.url ?? '';
      if (route === RUN_ROUTE && (isEmpty(request) || isCalledJson(request)))
        return void handOn(asJson(request, payload, this.config.content.jsonMembers), done);
      if (route.startsWith('/api/') && isEmpty(request)) delete request.raw.headers['content-type'];
      done(null, payload);
    });
  }
}

async function handOn(body: Promise<RequestPayload>, done: PayloadCallback): Promise<void> {
  let read: RequestPayload;
  try {
    read = await body;
  } catch (error) {
    return done(error as FastifyError);
  }
  done(null, read);
}

function isEmpty({ headers }: FastifyRequest): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] === undefined && (length === undefined || length === '0');
}

function isCalledJson({ headers }: FastifyRequest): boolean {
  return /^application\/json *(;|$)/i.test(headers['content-type'] ?? '');
}

async function asJson(request: FastifyRequest, payload: RequestPayload, mostMembers: number): Promise<RequestPayload> {
  const limit = request.routeOptions.bodyLimit;
  // The body may already have been read to its end; reading it again would never finish.
  if (Number(request.headers['content-length']) > limit) throw new PayloadTooLargeException();
  const sent = await readAll(payload, limit);
  const body = isJson(sent, mostMembers) ? sent : Buffer.from('{}');
  request.raw.headers['content-type'] = 'application/json';
  request.raw.headers['content-length'] = String(body.length);
  return Readable.from([body], { objectMode: false });
}

/**
 * Reads a whole request body. If the body exceeds the limit, rejects, but still reads the body to its end: otherwise
 * the client might not read the error.
 */
function readAll(payload: RequestPayload, limit: number): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let size = 0;
  payload.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= limit) chunks.push(chunk);
    else reject(new PayloadTooLargeException());
  });
  payload.once('end', () => resolve(Buffer.concat(chunks)));
  payload.once('error', (cause) => reject(new BadRequestException(undefined, { cause })));
  payload.once('close', () => reject(new BadRequestException()));
  return promise;
}

/** True if the body is valid JSON. A body with too many members also passes, because the parser rejects it later. */
function isJson(body: Buffer, mostMembers: number): boolean {
  const text = body.toString();
  try {
    if (!hasMoreMembers(text, mostMembers)) JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Lists, shows, cancels and reruns the runs of all workflows. */
@ApiTags('runs')
@Controller('api/runs')
export class RunsController {
  constructor(
    private readonly runs: Runs,
    private readonly reruns: Reruns,
    private readonly runList: RunList,
    private readonly diffs: RunDiffs,
    private readonly streams: ProcessStreams,
    private readonly usages: RunUsages,
    private readonly waits: RunWaits,
  ) {}

  @Get()
  @ApiOperation({ summary: 'Lists runs, most recently updated first.' })
  @ApiOkResponse({ type: RunPage })
  @ApiProblem(400, 'A parameter is malformed.')
  @ApiLargeAnswer()
  async listRuns(@Query() query: RunQuery, @Call() call: ApiCall): Promise<RunPage> {
    const { runs, ...page } = await this.runList.listRuns(query, call);
    const waiting = await this.waits.addWaits(runs, call.scope);
    return { runs: await this.usages.addUsage(waiting, call.scope), ...page };
  }

  @Get(':id')
  @ApiOperation({ summary: 'Returns one run with the state of every node.' })
  @ApiOkResponse({ type: RunDetail })
  @ApiProblem(404, 'run not found')
  @ApiLargeAnswer()
  async getRun(@Param('id') id: string, @Call() call: ApiCall): Promise<RunDetail> {
    const viewed = await this.runs.viewRun(id, call);
    const waiting = mayWaitForSlot(viewed) ? await this.waits.addWaits([viewed], call.scope) : [viewed];
    const [run] = await this.usages.addUsage(waiting, call.scope);
    return run!;
  }

  @Get(':id/workflow')
  @ApiOperation({ summary: 'Returns the workflow as it was when the run started.' })
  @ApiOkResponse({ type: WorkflowBody })
  @ApiProblem(404, 'run not found')
  getRunWorkflow(@Param('id') id: string, @Scope() scope: TaskScope): Promise<WorkflowDefinition> {
    return this.runs.readRunDefinition(id, scope);
  }

  @Get(':id/nodes/:node')
  @ApiOperation({ summary: 'Returns one node of a run with its input.' })
  @ApiOkResponse({ type: RunNodeDetail })
  @ApiProblem(404, 'run not found, or node not found')
  @ApiLargeAnswer()
  getRunNode(@Param('id') id: string, @Param('node') node: string, @Call() call: ApiCall): Promise<RunNodeDetail> {
    return this.runs.viewNode(id, node, call);
  }

  @Get(':id/diff')
  @ApiOperation({ summary: 'Compares a run with another run, or a rerun with its original run.' })
  @ApiOkResponse({ type: RunDiffView })
  @ApiProblem(400, 'The parameter is malformed, or it is missing and the run is not a rerun.')
  @ApiProblem(404, 'run not found')
  @ApiLargeAnswer()
  diffRuns(@Param('id') id: string, @Query() query: RunDiffQuery, @Call() call: ApiCall): Promise<RunDiffView> {
    return this.diffs.diffRuns(id, query.with, call);
  }

  @Get(':id/instances')
  @ApiOperation({
    summary: "Lists the instances of a run's nodes: one per node, iteration and list entry.",
  })
  @ApiOkResponse({ type: RunInstances })
  @ApiProblem(400, 'A parameter is malformed.')
  @ApiProblem(404, 'run not found')
  @ApiLargeAnswer()
  listInstances(@Param('id') id: string, @Query() query: InstancesQuery, @Call() call: ApiCall): Promise<RunInstances> {
    return this.runs.listInstances(id, query, call);
  }

  @Get(':id/events')
  @ApiEventStream('Streams the events of a run, from the first or after a cursor, until the run has ended.', '`done`')
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
    summary: 'Starts a new run that takes over results of an ended run.',
    description:
      'Runs the nodes of `from`, and with `failed` the failed nodes, again with all that follow; without a body, all nodes. ' +
      'Other `inputs` or another `revision` also rerun the nodes that they change.',
  })
  @ApiBody({ type: RerunBody, required: false, examples: RERUN_EXAMPLES })
  @ApiAcceptedResponse({ type: StartedRerun, ...LOCATION_HEADER })
  @ApiIdempotent('run')
  @ApiProblem(400, 'The body is malformed.')
  @ApiProblem(404, 'run not found')
  @ApiProblem(409, 'The run has not ended.')
  @ApiProblem(422, 'The instance or the revision does not exist, or the inputs are invalid.')
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
  @ApiOperation({ summary: 'Lists the reruns of a run.' })
  @ApiOkResponse({ type: RunForks })
  @ApiProblem(404, 'run not found')
  @ApiLargeAnswer()
  listForks(@Param('id') id: string, @Call() call: ApiCall): Promise<RunForks> {
    return this.reruns.listForks(id, call);
  }

  @Post(':id/cancel')
  @HttpCode(200)
  @ApiOperation({ summary: 'Cancels a run and reports the outcome for each remote Task.' })
  @ApiOkResponse({ type: CanceledRun })
  @ApiProblem(404, 'run not found')
  @ApiProblem(409, 'The run has ended with another outcome.')
  @ApiLargeAnswer()
  cancelRun(@Param('id') id: string, @Call() call: ApiCall): Promise<CanceledRun> {
    return this.runs.cancelRun(id, call);
  }
}

/** Returns the inputs and the metadata of the request for a run. @throws ProblemError 400 for a malformed budget */
function toStart({ inputs = {}, budget }: RunBody): RunInputs {
  return { inputs, ...(budget && { metadata: budgetMetadata(budget) }) };
}

/** True if a run may wait for a slot: no node has begun yet, or a registered agent is called for a node. */
function mayWaitForSlot({ nodes: byId, waitsFor }: Pick<RunDetail, 'nodes' | 'waitsFor'>): boolean {
  const nodes = Object.values(byId);
  const isAtAgent = nodes.some(({ status, agentUrl }) => status === 'running' && REGISTERED_AGENT.test(agentUrl));
  return nodes.every(({ status }) => status === 'pending') || (waitsFor === undefined && isAtAgent);
}

/** Pattern of the URLs of registered agents at this service. */
const REGISTERED_AGENT = /(^|\/)agents\/[^/]+$/;

/** Starts runs of one workflow. */
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
  @ApiAcceptedResponse({ type: StartedRun, ...LOCATION_HEADER })
  @ApiIdempotent('run')
  @ApiProblem(400, 'The body is malformed.')
  @ApiProblem(422, 'An input is missing, unknown or invalid: one entry each.')
  async startRun(
    @Param('name') name: string,
    @Body() body: RunBody,
    @IdempotencyKey() key: string | undefined,
    @Call() call: ApiCall,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<StartedRun> {
    const run = await this.runs.startRun(name, toStart(body), call, key);
    void reply.header('location', `/api/runs/${run.taskId}`);
    return { runId: run.taskId };
  }

  @Post('run')
  @ApiOperation({
    summary: 'Starts a run and streams its events until it has ended.',
    description: 'A body that is empty or not JSON means no inputs. Disconnecting does not stop the run.',
  })
  @ApiBody({ type: RunBody, required: false })
  @ApiEvents('`done`')
  @ApiIdempotent('run')
  @ApiProblem(400, 'The parameter is malformed, or the body has an unknown member or inputs nested too deep.')
  @ApiProblem(422, 'An input is missing, unknown or invalid: one entry each.')
  async runWorkflow(
    @Param('name') name: string,
    @Body() body: unknown,
    @Query() { cancelOnDisconnect }: RunStreamQuery,
    @IdempotencyKey() key: string | undefined,
    @Call() call: ApiCall,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const run = await this.runs.startRun(name, toStart(RunBody.readLeniently(body)), call, key);
    void reply.header('location', `/api/runs/${run.taskId}`);
    const events = this.streams.eventsOf({ ...run, lastSequence: 0 }, runEvents(name));
    const end = await this.streams.streamEvents(events, { after: 0, field: 'since' }, reply);
    if (end === 'left' && cancelOnDisconnect) await this.cancelAbandonedRun(run.taskId, call);
  }

  /** Cancels a run whose client has disconnected. The cancel must not wait until that client has read the response. */
  private async cancelAbandonedRun(runId: string, { whenAnswered: _reader, ...call }: ApiCall): Promise<void> {
    try {
      await this.runs.stopRun(runId, call);
    } catch (error) {
      this.logger.warn({ err: error, runId }, 'A run whose reader left could not be canceled');
    }
  }
}
