import { Body, Controller, Headers, HttpCode, Post, Res } from '@nestjs/common';
import { ApiBody, ApiExtraModels, ApiOkResponse, ApiOperation, ApiTags, getSchemaPath } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { admitStream, limitName, Scope, setRetryAfter } from '#libs/access';
import { ApiProblem, ProblemError, sendEvents, type SseFrame, toProblem } from '#libs/http-server';
import { Shutdown } from '#libs/service';
import type { TaskScope } from '#libs/tasks';
import { checkDescription, GENERATE_EXAMPLES, GenerateBody, GeneratedWorkflow } from './generate-body.js';
import { GenerationSlots, LONGEST_MS } from './generation-limits.js';
import { tooSlow } from './generation-models.js';
import { type Generation, WorkflowGenerator } from './workflow-generator.js';

const EVENTS_EXAMPLE =
  'event: generate.started\ndata: {"model":"large"}\n\n' +
  'event: done\ndata: {"workflow":{"name":"summary","nodes":[],"edges":[]},"problems":[],"attempts":1,"model":"large",' +
  '"usage":{"inputTokens":9120,"outputTokens":640}}\n\n';

/** Generates workflows from descriptions with a model, as JSON or as a stream of events. */
@ApiTags('workflows')
@Controller('api/generate')
export class GenerateController {
  constructor(
    private readonly generator: WorkflowGenerator,
    private readonly slots: GenerationSlots,
    private readonly shutdown: Shutdown,
  ) {}

  @Post()
  @HttpCode(200)
  @ApiOperation({
    summary: 'Generates a workflow from a description with a model, without saving it.',
    description:
      'A definition with errors goes back to the model with its problems, at most twice. With ' +
      '`Accept: text/event-stream` the answer is a stream: `generate.started` {model}, `generate.progress` {text}, ' +
      '`generate.draft` {workflow, problems, attempt}, `generate.repair` {attempt, problems}, and last `done` with the ' +
      'JSON answer, or `error` with a problem. A request takes 120 seconds at most; closing it ends the call of the model.',
  })
  @ApiBody({ type: GenerateBody, examples: GENERATE_EXAMPLES })
  @ApiExtraModels(GeneratedWorkflow)
  @ApiOkResponse({
    content: {
      'application/json': { schema: { $ref: getSchemaPath(GeneratedWorkflow) } },
      'text/event-stream': { schema: { type: 'string' }, example: EVENTS_EXAMPLE },
    },
  })
  @ApiProblem(400, 'The body is malformed.')
  @ApiProblem(413, 'The description or `current` is too long.')
  @ApiProblem(422, 'The description is blank, the model is unknown, or no model is configured (`NO_MODEL`).')
  @ApiProblem(
    429,
    'Two requests of the caller, or twelve of its tenant, are under way; `Retry-After` says when to retry.',
  )
  @ApiProblem(502, 'The model failed (`MODEL_FAILED`), or its answer is no definition (`GENERATION_FAILED`).')
  @ApiProblem(503, 'Sixteen requests of all callers are under way at this replica, or the replica is shutting down.')
  @ApiProblem(504, 'The model did not finish in time (`GENERATION_FAILED`).')
  async generateWorkflow(
    @Body() body: GenerateBody,
    @Headers('accept') accept: string | undefined,
    @Scope() scope: TaskScope,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    checkDescription(body);
    const leave = this.enterSlot(scope, reply);
    const left = new AbortController();
    const onClose = (): void => left.abort();
    reply.raw.once('close', onClose);
    const timer = AbortSignal.timeout(LONGEST_MS);
    const signal = AbortSignal.any([timer, left.signal, this.shutdown.started]);
    const toReported = (error: unknown): unknown => this.toCallerError(error, timer);
    try {
      const generation = await this.generator.beginGeneration(body, { tenant: scope.tenant, signal });
      if (wantsEvents(accept)) await this.streamGeneration(generation, reply, toReported);
      else await sendLastEvent(generation, reply);
    } catch (error) {
      if (!left.signal.aborted) throw toReported(error);
      // The client has left, so no answer is sent.
      reply.hijack();
    } finally {
      reply.raw.off('close', onClose);
      leave();
    }
  }

  /**
   * Takes a slot for the request, and returns the function that releases it.
   * @throws A2AError RATE_LIMITED or OVERLOADED, with `Retry-After` in the reply
   */
  private enterSlot(scope: TaskScope, reply: FastifyReply): () => void {
    try {
      const caller = limitName(scope, reply.request.raw.socket.remoteAddress);
      return this.slots.takeSlot({ caller, tenant: scope.tenant });
    } catch (error) {
      setRetryAfter(error, reply);
      throw error;
    }
  }

  private async streamGeneration(
    generation: Generation,
    reply: FastifyReply,
    reported: (error: unknown) => unknown,
  ): Promise<void> {
    admitStream(reply);
    await sendEvents(reply, this.shutdown, () => generationFrames(generation, reported));
  }

  /** Converts an error for the caller. If the time limit or a shutdown caused the error, that cause is reported. */
  private toCallerError(error: unknown, timer: AbortSignal): unknown {
    if (error instanceof ProblemError) return error;
    if (timer.aborted) return tooSlow();
    return this.shutdown.started.aborted ? new ProblemError(503, 'The service is about to stop') : error;
  }
}

/** Sends the last event as the JSON answer. Only streams report the earlier events. */
async function sendLastEvent(generation: Generation, reply: FastifyReply): Promise<void> {
  for await (const event of generation.runEvents()) {
    if (event.type === 'done') void reply.status(200).send(event.data);
  }
}

async function* generationFrames(
  generation: Generation,
  reported: (error: unknown) => unknown,
): AsyncGenerator<SseFrame> {
  try {
    for await (const { type, data } of generation.runEvents()) yield { event: type, data: JSON.stringify(data) };
  } catch (error) {
    const shown = reported(error);
    yield { event: 'error', data: JSON.stringify(toProblem(shown)) };
    // The exception filter of HTTP logs the error, since it knows that the answer has begun.
    if (!(shown instanceof ProblemError)) throw shown;
  }
}

function wantsEvents(accept: string | undefined): boolean {
  return /\btext\/event-stream\b/i.test(accept ?? '');
}
