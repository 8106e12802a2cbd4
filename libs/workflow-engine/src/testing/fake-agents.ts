import {
  AgentCallError,
  type AgentCallOptions,
  AgentClient,
  AgentDirectory,
  type CancelOutcome,
} from '#libs/a2a-client';
import {
  type Artifact,
  artifactUpdate,
  failedUpdate,
  type JsonObject,
  type Part,
  type SendMessageRequest,
  statusUpdate,
  type StreamResponse,
  type Task,
  type TaskState,
  textPart,
} from '#libs/protocol';

/** A call of a run to an agent. A test decides what the agent answers, and when. */
export class FakeCall {
  private readonly queue: (StreamResponse | Error | 'end')[] = [];
  private wake: () => void = () => undefined;
  readonly taskId: string;
  private readonly reference: { taskId: string; contextId: string };

  constructor(
    readonly url: string,
    readonly kind: 'send' | 'follow',
    readonly options: AgentCallOptions,
    readonly request: SendMessageRequest | undefined,
    taskId: string | undefined,
  ) {
    this.taskId = taskId ?? request?.message.taskId ?? `task-of-${this.node}`;
    this.reference = { taskId: this.taskId, contextId: request?.message.contextId ?? `context-of-${this.node}` };
    options.signal?.addEventListener('abort', () => this.wake(), { once: true });
  }

  /** Node id: the last segment of the URL. */
  get node(): string {
    return this.url.split('/').at(-1) ?? '';
  }

  /** Instance and attempt of the node, such as `draft@2#1`. */
  get attempt(): string {
    return this.options.parent?.reference ?? '';
  }

  get text(): string | undefined {
    return this.request?.message.parts[0]?.text;
  }

  get aborted(): boolean {
    return this.options.signal?.aborted === true;
  }

  /** Sends the Task as the first event of the answer. */
  task(state: TaskState = 'TASK_STATE_WORKING', fields: Partial<Task> = {}): this {
    return this.push({ task: { id: this.taskId, contextId: this.reference.contextId, status: { state }, ...fields } });
  }

  status(state: TaskState, text?: string, metadata?: JsonObject): this {
    return this.push(statusUpdate(this.reference, state, text, metadata));
  }

  artifact(artifact: Partial<Artifact>, append = false): this {
    return this.push(artifactUpdate(this.reference, { artifactId: 'out', parts: [], ...artifact }, { append }));
  }

  complete(...parts: (string | Part)[]): void {
    const artifact = {
      artifactId: 'out',
      parts: parts.map((part) => (typeof part === 'string' ? textPart(part) : part)),
    };
    this.task('TASK_STATE_COMPLETED', { artifacts: parts.length > 0 ? [artifact] : [] }).end();
  }

  finish(state: TaskState, text?: string): void {
    this.task().status(state, text).end();
  }

  /** Ends the Task as FAILED with this kind of failure. */
  failAs(kind: string, retryAfter?: number): void {
    const note = { kind, ...(retryAfter !== undefined && { retryAfter }) };
    this.task()
      .push(failedUpdate(this.reference, `Error: ${kind}`, note))
      .end();
  }

  reply(...parts: Part[]): void {
    this.push({ message: { messageId: 'reply', role: 'ROLE_AGENT', parts } }).end();
  }

  throw(error: Error): void {
    this.push(error);
  }

  end(): void {
    this.push('end');
  }

  async *responses(): AsyncGenerator<StreamResponse> {
    for (;;) {
      if (this.aborted) throw new AgentCallError('aborted', 'the call was aborted');
      const next = this.queue.shift();
      if (next === 'end') return;
      if (next instanceof Error) throw next;
      if (next) yield next;
      else await this.arrival();
    }
  }

  private push(item: StreamResponse | Error | 'end'): this {
    this.queue.push(item);
    this.wake();
    return this;
  }

  private arrival(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
    });
  }
}

/**
 * AgentDirectory in which every URL is an agent. It records calls and cancels. Calls are answered by `behave`, or by a
 * test that gets them from `called`.
 */
export class FakeAgents extends AgentDirectory {
  readonly calls: FakeCall[] = [];
  readonly cancels: { node: string; taskId: string }[] = [];
  cancelOutcome: CancelOutcome | (() => Promise<CancelOutcome>) = 'acknowledged';
  /** Called with the URL before a client is created. A test throws here to make the agent unreachable. */
  resolve: (url: string) => void = () => undefined;
  private watchers: (() => void)[] = [];

  constructor(private readonly behave: (call: FakeCall) => void = () => undefined) {
    super();
  }

  override async resolveClient(url: string): Promise<AgentClient> {
    this.resolve(url);
    return new FakeClient(url, this);
  }

  /** Resolves with the nth call of a node. */
  async called(node: string, nth = 1): Promise<FakeCall> {
    for (;;) {
      const call = this.calls.filter((it) => it.node === node)[nth - 1];
      if (call) return call;
      await new Promise<void>((resolve) => this.watchers.push(resolve));
    }
  }

  open(call: FakeCall): FakeCall {
    this.calls.push(call);
    this.behave(call);
    const { watchers } = this;
    this.watchers = [];
    for (const wake of watchers) wake();
    return call;
  }
}

class FakeClient extends AgentClient {
  override readonly card = undefined;

  constructor(
    override readonly agentUrl: string,
    private readonly agents: FakeAgents,
  ) {
    super();
  }

  override sendMessage(request: SendMessageRequest, options: AgentCallOptions = {}): AsyncIterable<StreamResponse> {
    return this.agents.open(new FakeCall(this.agentUrl, 'send', options, request, undefined)).responses();
  }

  override followTask(taskId: string, options: AgentCallOptions = {}): AsyncIterable<StreamResponse> {
    return this.agents.open(new FakeCall(this.agentUrl, 'follow', options, undefined, taskId)).responses();
  }

  override getTask(): Promise<Task> {
    throw new Error('A run never polls');
  }

  override async cancelTask(taskId: string): Promise<CancelOutcome> {
    this.agents.cancels.push({ node: this.agentUrl.split('/').at(-1) ?? '', taskId });
    const { cancelOutcome } = this.agents;
    return typeof cancelOutcome === 'function' ? cancelOutcome() : cancelOutcome;
  }
}
