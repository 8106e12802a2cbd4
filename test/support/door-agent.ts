import { once } from 'node:events';
import type { IncomingHttpHeaders, Server } from 'node:http';
import { type AgentCard, type Artifact, Message, type Part, Role, TaskState } from '@a2a-js/sdk';
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  type RequestContext,
} from '@a2a-js/sdk/server';
import { jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import type { JsonObject, Message as OwnMessage } from '#libs/protocol';
import { freePort } from './free-port.mjs';
import { cardRoute } from './sdk-server.js';
import { until } from './until.js';

export interface DoorAgentOptions {
  binding?: 'JSONRPC' | 'HTTP+JSON';
  streaming?: boolean;
  /** True if the agent calls webhooks, as the SDK's server does. */
  push?: boolean;
  /** True if the agent refuses all webhooks although its card offers push. */
  refusesPush?: boolean;
  card?: Partial<AgentCard>;
}

/** Number of Artifacts in the answer to `many`, and number of their chunks in total. */
export const [ARTIFACTS, CHUNKS] = [64, 1_000];

/** Parameters with which a webhook is registered. */
export interface AgentWebhook {
  id: string;
  taskId: string;
  url: string;
  token: string;
}

/**
 * Agent on the official SDK's server that keeps everything in memory, for tests of registered agents. The first text of
 * a Message selects what it does:
 * - `direct`: answers with a Message.
 * - `ask`: waits for input with a text and a data Part; the next Message is echoed.
 * - `login`, `refuse`, `fail`: ends the turn in that state, with a Message.
 * - `many`: sends CHUNKS chunks of ARTIFACTS Artifacts in turn.
 * - `hold`: sends one chunk, then a second one after `release()`.
 * - anything else: echoes the Parts as an Artifact.
 */
export class DoorAgent implements AgentExecutor {
  /** Received Messages, in order. */
  readonly heard: OwnMessage[] = [];
  /** Values of the `A2A-Extensions` header of the received Messages. */
  readonly activated: string[] = [];
  /** Number of requests whose answer is not complete yet, such as open streams. */
  open = 0;
  /** Webhooks that were registered over JSON-RPC, in order. */
  readonly webhooks: AgentWebhook[] = [];
  /** Ids of the Tasks whose webhooks were deleted over JSON-RPC, in order. */
  readonly unhooked: string[] = [];
  /** Called when a Task is read over JSON-RPC, before the answer is sent; the answer waits for the promise. */
  onRead: ((taskId: string) => Promise<void>) | undefined;
  /** Number of webhooks that the agent has refused. */
  refused = 0;
  /** Headers of all requests, in order. */
  readonly requests: IncomingHttpHeaders[] = [];
  private readonly held = new Map<string, (end: 'released' | 'asked' | 'canceled') => void>();
  private server: Server | undefined;
  private app: Express | undefined;
  private port = 0;

  private constructor(readonly options: DoorAgentOptions) {}

  static async start(options: DoorAgentOptions = {}): Promise<DoorAgent> {
    const agent = new DoorAgent(options);
    await agent.begin();
    return agent;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Ids of the Tasks that wait for `release()`. */
  get holding(): string[] {
    return [...this.held.keys()];
  }

  /** Starts the agent, without any Task. */
  async begin(): Promise<void> {
    this.app = express();
    this.app.use(express.json({ limit: '64mb', type: () => true }));
    this.app.use((request, reply, next) => {
      this.requests.push(request.headers);
      this.open += 1;
      reply.once('close', () => (this.open -= 1));
      const named = request.headers['a2a-extensions'];
      if (named !== undefined) this.activated.push(String(named));
      next();
    });
    this.app.use((request, reply, next) => this.interceptCall(request, reply, next));
    this.port ||= await freePort();
    this.server = this.app.listen(this.port, '127.0.0.1');
    await once(this.server, 'listening');
    const requestHandler = new DefaultRequestHandler(this.card, new InMemoryTaskStore(), this);
    const served = { requestHandler, userBuilder: UserBuilder.noAuthentication };
    this.app.use('/.well-known/agent-card.json', cardRoute(requestHandler));
    this.app.use('/rpc', jsonRpcHandler(served));
    this.app.use('/rest', restHandler(served));
  }

  /** Stops the agent: its connections break, and it forgets its Tasks. */
  async end(): Promise<void> {
    const { server } = this;
    this.held.clear();
    this.server = undefined;
    if (!server) return;
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }

  /** Breaks all connections; the agent keeps its Tasks. */
  cut(): void {
    this.server?.closeAllConnections();
  }

  /** Resolves with the id of a Task that waits for `release()`. */
  async untilHolding(): Promise<string> {
    return until(() => this.holding.at(-1), { what: 'a task of the agent to hold' });
  }

  /** Lets all Tasks that wait for `release()` complete, or ask for input. */
  release(end: 'released' | 'asked' = 'released'): void {
    for (const goOn of this.held.values()) goOn(end);
    this.held.clear();
  }

  async execute(context: RequestContext, bus: ExecutionEventBus): Promise<void> {
    this.heard.push(Message.toJSON(context.userMessage) as OwnMessage);
    await this.answer(context, bus, firstText(context.userMessage.parts));
    bus.finished();
  }

  async cancelTask(taskId: string): Promise<void> {
    this.held.get(taskId)?.('canceled');
    this.held.delete(taskId);
  }

  private get card(): AgentCard {
    const { binding = 'JSONRPC', streaming = true, push = false, card } = this.options;
    const path = binding === 'JSONRPC' ? 'rpc' : 'rest';
    return {
      name: 'Door agent',
      description: 'Echoes each Message',
      supportedInterfaces: [
        { url: `${this.url}/${path}`, protocolBinding: binding, tenant: '', protocolVersion: '1.0' },
      ],
      provider: { organization: 'Doors Ltd', url: 'https://doors.example.com' },
      version: '7.1',
      capabilities: { streaming, pushNotifications: push, extensions: [], extendedAgentCard: false },
      securitySchemes: {},
      securityRequirements: [],
      defaultInputModes: ['text'],
      defaultOutputModes: ['text', 'image/png'],
      skills: [SKILL],
      documentationUrl: 'https://doors.example.com/docs',
      iconUrl: 'https://doors.example.com/icon.png',
      signatures: [],
      ...card,
    };
  }

  private async answer(context: RequestContext, bus: ExecutionEventBus, text: string): Promise<void> {
    const { taskId, contextId, userMessage, task } = context;
    if (text === 'direct') return bus.publish(AgentEvent.message(wordsOf(context, 'at once', false)));
    const status = { state: TaskState.TASK_STATE_SUBMITTED, message: undefined, timestamp: undefined };
    const begun = { id: taskId, contextId, status, artifacts: [], history: [userMessage], metadata: {} };
    bus.publish(AgentEvent.task(task ?? begun));
    bus.publish(statusOf(context, TaskState.TASK_STATE_WORKING, 'on it', { step: 1 }));
    const end = ENDS[text];
    if (end !== undefined) return bus.publish(statusOf(context, end, `${text}: why`));
    if (text === 'ask')
      return bus.publish(statusOf(context, TaskState.TASK_STATE_INPUT_REQUIRED, 'which?', undefined, { of: [1] }));
    if (text === 'many') for (let n = 0; n < CHUNKS; n += 1) bus.publish(chunkOf(context, n));
    else if (text === 'hold') await this.hold(context, bus);
    else bus.publish(artifactOf(context, userMessage.parts));
    if (text !== 'hold' || !this.over.delete(taskId))
      bus.publish(statusOf(context, TaskState.TASK_STATE_COMPLETED, 'done'));
  }

  private interceptCall(request: Request, reply: Response, next: NextFunction): void {
    const { method, id, params } = (request.body ?? {}) as { method?: string; id?: number; params: AgentWebhook };
    if (method === 'GetTask' && this.onRead) {
      const { onRead } = this;
      const send = reply.json.bind(reply);
      reply.json = (body: unknown) => {
        void onRead(params.id).then(() => send(body));
        return reply;
      };
    }
    if (method === 'DeleteTaskPushNotificationConfig') this.unhooked.push(params.taskId);
    if (method !== 'CreateTaskPushNotificationConfig') return next();
    this.webhooks.push(params);
    if (!this.options.refusesPush) return next();
    this.refused += 1;
    reply.json({ jsonrpc: '2.0', id, error: { code: -32003, message: 'Push Notification is not supported' } });
  }

  /** Ids of the Tasks that waited for `release()`, and whose turn has ended otherwise than by COMPLETED. */
  private readonly over = new Set<string>();

  private async hold(context: RequestContext, bus: ExecutionEventBus): Promise<void> {
    const { taskId } = context;
    bus.publish(pieceOf(context, 'first ', false));
    const end = await new Promise<string>((resolve) => this.held.set(taskId, resolve));
    if (end === 'canceled') {
      this.over.add(taskId);
      bus.publish(statusOf(context, TaskState.TASK_STATE_CANCELED, 'stopped'));
    } else if (end === 'asked') {
      this.over.add(taskId);
      bus.publish(statusOf(context, TaskState.TASK_STATE_INPUT_REQUIRED, 'which?'));
    } else bus.publish(pieceOf(context, 'last', true));
  }
}

const SKILL = {
  id: 'echo',
  name: 'Echo',
  description: 'Echoes Parts',
  tags: ['echo'],
  examples: ['hello'],
  inputModes: [],
  outputModes: [],
  securityRequirements: [],
};

const ENDS: Readonly<Record<string, TaskState>> = {
  login: TaskState.TASK_STATE_AUTH_REQUIRED,
  refuse: TaskState.TASK_STATE_REJECTED,
  fail: TaskState.TASK_STATE_FAILED,
};

function firstText(parts: readonly Part[]): string {
  const found = parts.find(({ content }) => content?.$case === 'text')?.content;
  return found?.$case === 'text' ? found.value : '';
}

function partOf(content: Part['content'], metadata: JsonObject = {}): Part {
  const mediaType = content?.$case === 'text' ? 'text/plain' : 'application/json';
  return { content, mediaType, filename: '', metadata };
}

function wordsOf({ taskId, contextId }: RequestContext, text: string, ofTask = true, data?: JsonObject): Message {
  const parts = [partOf({ $case: 'text', value: text }, { tone: 'plain' })];
  if (data) parts.push(partOf({ $case: 'data', value: data }));
  return {
    messageId: crypto.randomUUID(),
    taskId: ofTask ? taskId : '',
    contextId,
    role: Role.ROLE_AGENT,
    parts,
    metadata: { of: 'agent' },
    extensions: ['urn:example:words'],
    referenceTaskIds: [],
  };
}

function statusOf(
  context: RequestContext,
  state: TaskState,
  text: string,
  metadata: JsonObject = {},
  data?: JsonObject,
): ReturnType<typeof AgentEvent.task> {
  const { taskId, contextId } = context;
  const status = { state, message: wordsOf(context, text, true, data), timestamp: new Date().toISOString() };
  return AgentEvent.statusUpdate({ taskId, contextId, status, metadata });
}

function artifactOf(
  { taskId, contextId }: RequestContext,
  parts: Part[],
  { artifactId = 'echo', append = false, lastChunk = true } = {},
): ReturnType<typeof AgentEvent.task> {
  const artifact: Artifact = {
    ...{ artifactId, name: `${artifactId}.out`, description: 'what came', parts },
    metadata: { of: artifactId },
    extensions: ['urn:example:artifact'],
  };
  return AgentEvent.artifactUpdate({ taskId, contextId, artifact, append, lastChunk, metadata: { event: artifactId } });
}

function pieceOf(context: RequestContext, text: string, isLast: boolean): ReturnType<typeof AgentEvent.task> {
  const parts = [partOf({ $case: 'text', value: text })];
  return artifactOf(context, parts, { artifactId: 'held', append: isLast, lastChunk: isLast });
}

/** Creates chunk `n` of the answer to `many`. */
function chunkOf(context: RequestContext, n: number): ReturnType<typeof AgentEvent.task> {
  const parts = [partOf({ $case: 'text', value: `${n} ` })];
  const isLast = n + ARTIFACTS >= CHUNKS;
  return artifactOf(context, parts, {
    artifactId: `a${n % ARTIFACTS}`,
    append: n >= ARTIFACTS,
    lastChunk: isLast,
  });
}
