import type { CallContext, LocalRequestHandler } from '#libs/executor';
import { isActiveState, type SendMessageRequest, type StreamResponse, type Task } from '#libs/protocol';
import type { AgentCallOptions } from './agent-client.js';
import type { AgentTransport, TransportOptions } from './agent-transport.js';
import type { CallOutcomes } from './call-outcomes.js';
import { TransportAgentClient } from './transport-agent-client.js';

/** Agent of this process. */
export interface LocalAgent {
  /** Path below the service's A2A root. */
  path: string;
  handler: LocalRequestHandler;
}

/**
 * Client of an agent of this process. Without a socket there is nothing to retry and no silence to limit, so a call
 * without limits reads the agent's events directly.
 */
export class LocalAgentClient extends TransportAgentClient {
  constructor(
    url: string,
    private readonly agent: LocalAgent,
    private readonly counted: CallOutcomes,
  ) {
    super(url, undefined, new LocalTransport(agent), counted);
  }

  /** Returns the agent's current input modes: a workflow's or model's may change between calls. */
  override async inputModes(options: AgentCallOptions = {}): Promise<readonly string[] | undefined> {
    const { path, handler } = this.agent;
    const agent = await handler.resolveAgent(callTo(path, options), options.signal).catch(() => undefined);
    return agent?.inputModes;
  }

  override sendMessage(request: SendMessageRequest, options: AgentCallOptions = {}): AsyncIterable<StreamResponse> {
    if (options.timeouts !== undefined) return super.sendMessage(request, options);
    return this.counted.countedStream(this.#readLocalEvents(request, options));
  }

  async *#readLocalEvents(request: SendMessageRequest, options: AgentCallOptions): AsyncIterable<StreamResponse> {
    let taskId: string | undefined;
    const { path, handler } = this.agent;
    for await (const event of handler.sendInProcess(request, callTo(path, options), options.signal)) {
      if ('task' in event) taskId = event.task.id;
      yield event;
      if (endsTurn(event)) return;
    }
    options.signal?.throwIfAborted();
    // This process no longer executes the Task: another replica's execution is followed through the log.
    if (taskId !== undefined) yield* super.followTask(taskId, options);
  }
}

/** Transport to an agent of this process. It sends no heartbeats, so silence is not limited. */
class LocalTransport implements AgentTransport {
  readonly streaming = true;
  readonly timeouts = { connect: Infinity, firstEvent: Infinity, idle: Infinity };

  constructor(private readonly agent: LocalAgent) {}

  async *sendMessage(request: SendMessageRequest, options: TransportOptions): AsyncIterable<StreamResponse> {
    const { path, handler } = this.agent;
    yield* handler.sendInProcess(request, callTo(path, options), options.signal);
  }

  async *subscribeToTask(id: string, options: TransportOptions): AsyncIterable<StreamResponse> {
    const { path, handler } = this.agent;
    const call = callTo(path, options);
    const { signal } = options;
    const items = handler.subscribeToTask(await handler.resolveAgent(call, signal), { id }, call, { signal });
    for await (const { response } of items) yield response;
  }

  async getTask(id: string, options: TransportOptions): Promise<Task> {
    const { path, handler } = this.agent;
    const call = callTo(path, options);
    const { signal } = options;
    return handler.getTask(await handler.resolveAgent(call, signal), { id }, call, signal);
  }

  async cancelTask(id: string, options: TransportOptions): Promise<Task> {
    const { path, handler } = this.agent;
    const call = callTo(path, options);
    const { signal } = options;
    return handler.cancelTask(await handler.resolveAgent(call, signal), { id }, call, signal);
  }
}

const NO_EXTENSIONS: readonly string[] = [];

/**
 * Builds the context of a call. Without a scope the call would belong to all callers without a tenant, so it is an
 * error.
 */
function callTo(agent: string, { scope, parent, revision, trace }: AgentCallOptions): CallContext {
  if (scope === undefined) throw new Error('A call of an agent of this service does not say for whom it is made');
  const call: CallContext = { scope, agent, extensions: NO_EXTENSIONS, baseUrl: '', ...(parent && { parent }) };
  if (trace) call.trace = trace;
  return revision === undefined ? call : { ...call, revision };
}

function endsTurn(event: StreamResponse): boolean {
  return 'message' in event || ('statusUpdate' in event && !isActiveState(event.statusUpdate.status.state));
}
