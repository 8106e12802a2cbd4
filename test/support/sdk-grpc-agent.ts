import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type AgentCard, Role, TaskState } from '@a2a-js/sdk';
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  type RequestContext,
  ServerCallContext,
} from '@a2a-js/sdk/server';
import { A2AService, grpcService, UserBuilder } from '@a2a-js/sdk/server/grpc';
import { type Metadata, Server, ServerCredentials, type ServiceDefinition } from '@grpc/grpc-js';
import { freePort } from './free-port.mjs';

export interface SdkGrpcAgentOptions {
  streaming?: boolean;
  /** Port of gRPC; default: a free one. */
  port?: number;
  /** Port at which the card is served. */
  cardPort?: number;
  /** Certificate and key; absent: the server has no TLS. */
  tls?: { cert: Buffer; key: Buffer };
  /** Returns the URL of the gRPC interface in the card. */
  cardUrl?: (port: number) => string;
  tenant?: string;
  /** Tasks that a restarted agent still has. */
  store?: InMemoryTaskStore;
}

/** Call that the gRPC server received. */
export interface SeenCall {
  method: string;
  metadata: Record<string, string>;
  request: Record<string, unknown>;
}

/** Agent on the official SDK's gRPC server, whose card offers only gRPC. The card is served over HTTP. */
export class SdkGrpcAgent {
  readonly calls: SeenCall[] = [];
  private readonly seen = new EventEmitter();

  private constructor(
    private readonly grpc: Server,
    private readonly http: HttpServer,
    readonly port: number,
    readonly store: InMemoryTaskStore,
    readonly executor: GrpcTestExecutor,
  ) {}

  static async start(options: SdkGrpcAgentOptions = {}): Promise<SdkGrpcAgent> {
    const { tls, cardUrl = (port) => `127.0.0.1:${port}`, store = new InMemoryTaskStore() } = options;
    const executor = new GrpcTestExecutor();
    const grpc = new Server();
    const card = grpcCard(options);
    const handler = new DefaultRequestHandler(card, store, executor);
    const service = grpcService({ requestHandler: handler, userBuilder: UserBuilder.noAuthentication });
    const credentials = tls
      ? ServerCredentials.createSsl(null, [{ cert_chain: tls.cert, private_key: tls.key }])
      : ServerCredentials.createInsecure();
    const { port: wanted = await freePort(), cardPort = await freePort() } = options;
    const port = await new Promise<number>((resolve, reject) => {
      grpc.bindAsync(`127.0.0.1:${wanted}`, credentials, (error, bound) => (error ? reject(error) : resolve(bound)));
    });
    card.supportedInterfaces[0]!.url = cardUrl(port);
    const http = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(cardJson(card)));
    }).listen(cardPort, '127.0.0.1');
    await once(http, 'listening');
    const agent = new SdkGrpcAgent(grpc, http, port, store, executor);
    grpc.addService(A2AService as unknown as ServiceDefinition, agent.watched(service));
    return agent;
  }

  get cardPort(): number {
    return (this.http.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.cardPort}`;
  }

  /** Resolves with the next call of a method. */
  nextCall(method: string): Promise<SeenCall> {
    return new Promise((resolve) => this.seen.on(method, resolve));
  }

  /** Creates a store in which a Task of this agent has ended, as a durable store of a restarted agent would have it. */
  async endedStore(taskId: string): Promise<InMemoryTaskStore> {
    const context = new ServerCallContext();
    const task = await this.store.load(taskId, context);
    if (task === undefined) throw new Error('the agent has no such Task');
    const status = { state: TaskState.TASK_STATE_COMPLETED, message: undefined, timestamp: undefined };
    const store = new InMemoryTaskStore();
    await store.save({ ...task, status }, context);
    return store;
  }

  /** Closes all gRPC connections; the agent continues to work. */
  cutConnections(): void {
    this.grpc.drain(`127.0.0.1:${this.port}`, 0);
  }

  /** Destroys all connections at once, as the end of a process does. */
  async kill(): Promise<void> {
    this.grpc.forceShutdown();
    this.http.closeAllConnections();
    this.http.close();
    await once(this.http, 'close');
  }

  private watched(service: object): Record<string, never> {
    const calls = Object.entries(service).map(([method, handle]: [string, (...args: unknown[]) => unknown]) => [
      method,
      (call: { metadata: Metadata; request: Record<string, unknown> }, done: unknown) => {
        const { metadata, request } = call;
        const seen = { method, metadata: metadata.getMap() as Record<string, string>, request };
        this.calls.push(seen);
        this.seen.emit(method, seen);
        return handle(call, done);
      },
    ]);
    return Object.fromEntries(calls) as Record<string, never>;
  }
}

function grpcCard({ streaming = true, tenant = '' }: SdkGrpcAgentOptions): AgentCard {
  return {
    name: 'grpc only',
    description: 'Speaks gRPC only',
    supportedInterfaces: [{ url: '', protocolBinding: 'GRPC', tenant, protocolVersion: '1.0' }],
    provider: undefined,
    version: '1',
    capabilities: { streaming, pushNotifications: false, extensions: [], extendedAgentCard: false },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
    documentationUrl: '',
    signatures: [],
  };
}

function cardJson({ securitySchemes: _schemes, provider: _provider, ...card }: AgentCard): object {
  return card;
}

/**
 * Executor whose action depends on the Message's text: `ask` asks a question and repeats the answer, `wait` works until
 * `release` or a cancel, `fail` throws, `direct` answers with a Message; any other text is repeated in two pieces.
 */
export class GrpcTestExecutor implements AgentExecutor {
  private readonly waiting = new Map<string, (canceled: boolean) => void>();
  private readonly begun = Promise.withResolvers<void>();
  /** Resolves when the first Task waits for `release`. */
  readonly waits = this.begun.promise;

  /** Lets all waiting Tasks end. */
  release(): void {
    for (const end of this.waiting.values()) end(false);
  }

  async execute(context: RequestContext, bus: ExecutionEventBus): Promise<void> {
    const { taskId, contextId, userMessage, task } = context;
    const content = userMessage.parts[0]?.content;
    const text = content?.$case === 'text' ? content.value : '';
    if (text === 'fail') throw new Error('the agent broke');
    if (text === 'direct') {
      bus.publish(AgentEvent.message(agentMessage(context, 'directly')));
      return bus.finished();
    }
    const status = { state: TaskState.TASK_STATE_SUBMITTED, message: undefined, timestamp: undefined };
    const begun = { id: taskId, contextId, status, artifacts: [], history: [userMessage], metadata: {} };
    bus.publish(AgentEvent.task(task ?? begun));
    bus.publish(statusOf(context, TaskState.TASK_STATE_WORKING));
    if (text === 'ask') {
      bus.publish(statusOf(context, TaskState.TASK_STATE_INPUT_REQUIRED, 'which one?'));
      return bus.finished();
    }
    const isCanceled = text === 'wait' && (await this.wait(taskId));
    const parts = userMessage.parts.map((part) => ({ ...part }));
    if (!isCanceled) {
      bus.publish(pieceOf(context, parts, false));
      bus.publish(pieceOf(context, parts, true));
    }
    bus.publish(statusOf(context, isCanceled ? TaskState.TASK_STATE_CANCELED : TaskState.TASK_STATE_COMPLETED));
    bus.finished();
  }

  async cancelTask(taskId: string): Promise<void> {
    this.waiting.get(taskId)?.(true);
  }

  private wait(taskId: string): Promise<boolean> {
    return new Promise((resolve) => {
      this.waiting.set(taskId, resolve);
      this.begun.resolve();
    });
  }
}

type Parts = RequestContext['userMessage']['parts'];

function agentMessage({ taskId, contextId }: RequestContext, text: string) {
  const content = { $case: 'text' as const, value: text };
  return {
    messageId: randomUUID(),
    taskId,
    contextId,
    role: Role.ROLE_AGENT,
    parts: [{ content, mediaType: 'text/plain', filename: '', metadata: {} }],
    metadata: {},
    extensions: [],
    referenceTaskIds: [],
  };
}

function statusOf(context: RequestContext, state: TaskState, text?: string) {
  const { taskId, contextId } = context;
  const message = text === undefined ? undefined : agentMessage(context, text);
  return AgentEvent.statusUpdate({
    taskId,
    contextId,
    status: { state, message, timestamp: new Date().toISOString() },
    metadata: {},
  });
}

function pieceOf({ taskId, contextId }: RequestContext, parts: Parts, append: boolean) {
  const artifact = { artifactId: 'a', name: 'a', description: '', parts, metadata: {}, extensions: [] };
  return AgentEvent.artifactUpdate({ taskId, contextId, artifact, append, lastChunk: append, metadata: {} });
}
