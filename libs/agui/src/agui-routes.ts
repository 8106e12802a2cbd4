import { Logger } from '@nestjs/common';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { admitStream, callerOf, scopeOf, setRetryAfter } from '#libs/access';
import { publicError } from '#libs/a2a-server';
import { type CallContext, REGISTERED_AGENTS, type ServedAgent, UnknownAgent } from '#libs/agents';
import {
  malformedRequest,
  ProblemError,
  refuseUnfitJson,
  requestTrace,
  sendEvents,
  type ServiceAddress,
  type SseFrame,
  toProblem,
} from '#libs/http-server';
import { isIdentifier, type JsonObject, type JsonValue, NO_ID, textStart } from '#libs/protocol';
import { inboundTrace, type Shutdown } from '#libs/service';
import { type AguiBackend, AguiRuns, type RunCursor, type RunFrames, type RunName } from './agui-runs.js';
import { readRunInput } from './run-input.js';

export interface AguiRoutesOptions extends AguiBackend {
  address: Pick<ServiceAddress, 'publicBaseUrl'>;
  shutdown: Pick<Shutdown, 'started'>;
}

const logger = new Logger('Agui');

const NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;
const BASES = ['/agui/workflows/:workflow', '/agui/agents/:agent'] as const;
const RUN = '/threads/:threadId/runs/:runId';

/**
 * Registers the routes of AG-UI: an endpoint for each workflow and each registered agent, and the routes that follow
 * and cancel a run. The routes are a Fastify plugin with an error handler of its own: errors before a stream are
 * problem documents, as in `/api`. Call the function before the server is ready.
 */
export function registerAguiRoutes(fastify: FastifyInstance, options: AguiRoutesOptions): void {
  const endpoint = new AguiRouteHandler(options);
  void fastify.register((scope, _options, done) => {
    scope.setErrorHandler(refuseRequest);
    for (const base of BASES) {
      scope.post(base, (request, reply) => endpoint.beginRun(request, reply));
      scope.get(base, { exposeHeadRoute: false }, (request) => endpoint.describeAgent(request));
      scope.get(`${base}${RUN}`, { exposeHeadRoute: false }, (request, reply) => endpoint.followRun(request, reply));
      scope.post(`${base}${RUN}/cancel`, (request, reply) => endpoint.cancelNamedRun(request, reply));
    }
    done();
  });
}

class AguiRouteHandler {
  constructor(private readonly options: AguiRoutesOptions) {}

  async beginRun(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    refuseUnfitJson(request.body);
    const input = readRunInput(request.body as JsonValue | undefined);
    const cursor = readRunCursor(request);
    admitStream(reply);
    const call = this.callOf(request, reply);
    const agent = await this.options.handler.resolveAgent(call);
    return this.sendFrames(reply, await new AguiRuns(this.options, agent, call).beginRun(input, cursor));
  }

  async followRun(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const name = runName(request);
    const cursor = readRunCursor(request);
    admitStream(reply);
    return this.sendFrames(reply, await (await this.runsOf(request, reply)).followRun(name, cursor));
  }

  async cancelNamedRun(request: FastifyRequest, reply: FastifyReply): Promise<JsonObject> {
    return (await this.runsOf(request, reply)).cancelTurn(runName(request));
  }

  /** Returns what the agent offers, as the capabilities of AG-UI. */
  async describeAgent(request: FastifyRequest): Promise<JsonObject> {
    const { handler } = this.options;
    const agent = await handler.resolveAgent({ scope: scopeOf(request.raw), agent: agentPath(request) });
    return capabilitiesOf(agent);
  }

  private async runsOf(request: FastifyRequest, reply: FastifyReply): Promise<AguiRuns> {
    const call = this.callOf(request, reply);
    return new AguiRuns(this.options, await this.options.handler.agentOfTasks(call), call);
  }

  /**
   * Sends the frames of a run, and ends the response. A failure before the first frame is thrown while a problem can
   * still be sent; a later one ends the stream, and the client resumes it.
   */
  private async sendFrames(reply: FastifyReply, frames: RunFrames): Promise<FastifyReply> {
    const reading = new AbortController();
    const items = frames(reading.signal);
    const first = await items.next();
    try {
      await sendEvents(reply, this.options.shutdown, (signal) => {
        signal.addEventListener('abort', () => reading.abort());
        if (signal.aborted) reading.abort();
        return first.done ? items : withFirst(first.value, items);
      });
    } catch (error) {
      publicError(error);
    } finally {
      reading.abort();
      await items.return(undefined).catch((error: unknown) => logger.warn({ err: error }, 'A stream did not end'));
    }
    return reply;
  }

  private callOf(request: FastifyRequest, { raw }: FastifyReply): CallContext {
    const agent = agentPath(request);
    const trace = inboundTrace(request.headers);
    const isRegistered = agent.startsWith(`${REGISTERED_AGENTS}/`);
    const { permissions } = callerOf(request.raw);
    return {
      scope: scopeOf(request.raw),
      agent,
      extensions: [],
      baseUrl: this.options.address.publicBaseUrl(request.raw),
      whenAnswered: (done) => !raw.closed && raw.once('close', done) === raw,
      ...(trace !== undefined && { trace }),
      ...(isRegistered && { inbound: { permissions, headers: request.headers } }),
    };
  }
}

async function* withFirst(first: SseFrame, rest: AsyncGenerator<SseFrame>): AsyncGenerator<SseFrame> {
  yield first;
  yield* rest;
}

/** Returns the path of the agent that a request addresses. @throws UnknownAgent for a name that no agent can have */
function agentPath(request: FastifyRequest): string {
  const { workflow, agent } = request.params as { workflow?: string; agent?: string };
  const kind = agent === undefined ? 'workflow' : 'agent';
  const name = agent ?? workflow ?? '';
  if (NAME.test(name)) return agent === undefined ? `workflows/${name}` : `${REGISTERED_AGENTS}/${name}`;
  const shown = textStart(name, 64);
  throw new UnknownAgent(`${kind} "${shown}" not found`, 'AGENT_NOT_FOUND', { [kind]: shown });
}

/** Reads the name of a run from the path. The query says if the client speaks 1.0, as the body of a run does. */
function runName(request: FastifyRequest): RunName {
  const { threadId, runId } = request.params as { threadId: string; runId: string };
  for (const [path, value] of Object.entries({ threadId, runId }))
    if (!isIdentifier(value)) throw malformedRequest({ path, detail: NO_ID });
  const { protocolVersion } = request.query as Record<string, unknown>;
  return { threadId, runId, isEarly: protocolVersion === undefined };
}

/**
 * Reads the cursor of a request: the id of the last event that the client has received. It is in `Last-Event-ID`, else
 * in `?since=`.
 * @throws ProblemError 400 for a text that is no id of an event
 */
function readRunCursor(request: FastifyRequest): RunCursor | undefined {
  const header = request.headers['last-event-id'];
  const { since } = request.query as Record<string, unknown>;
  const [field, value] = header !== undefined && header !== '' ? ['Last-Event-ID', header] : ['since', since];
  if (value === undefined || value === '') return undefined;
  const [, sequence, index] = (typeof value === 'string' && /^(\d{1,10})\.(\d{1,10})$/.exec(value)) || [];
  if (sequence === undefined) throw malformedRequest({ path: field!, detail: 'must be the id of an event of the run' });
  return { sequence: Number(sequence), index: Number(index), field: field! };
}

function capabilitiesOf({ path, name, description, version }: ServedAgent): JsonObject {
  const isWorkflow = !path.startsWith(`${REGISTERED_AGENTS}/`);
  return {
    identity: { name, type: isWorkflow ? 'workflow' : 'agent', description, version },
    transport: { streaming: true, websocket: false, httpBinary: false, pushNotifications: false, resumable: true },
    tools: { supported: isWorkflow, clientProvided: false },
    state: { snapshots: false, deltas: true, memory: true, persistentState: true },
    humanInTheLoop: { supported: true, approvals: true, interrupts: true },
  };
}

/** Answers an error as a problem document. */
function refuseRequest(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const known = error instanceof ProblemError || isFastifyError(error) ? error : publicError(error);
  setRetryAfter(known, reply);
  const problem = toProblem(known);
  const [instance] = request.url.split('?', 1);
  const body = { ...problem, instance, requestId: String(request.id), ...requestTrace(request.raw) };
  void reply.code(problem.status).header('content-type', 'application/problem+json').send(JSON.stringify(body));
}

/** True for an error that Fastify raised about the request, such as a body that is too large. */
function isFastifyError(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  return typeof error.code === 'string' && error.code.startsWith('FST_ERR');
}
