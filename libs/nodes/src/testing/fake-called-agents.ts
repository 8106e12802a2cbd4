import {
  AgentCallError,
  type AgentCallOptions,
  AgentClient,
  AgentDirectory,
  type CancelOutcome,
} from '#libs/a2a-client';
import { CallChains, type ServedAgent, UnknownAgent } from '#libs/agents';
import type { AgentTalks } from '#libs/durable';
import {
  A2AError,
  type AgentCard,
  artifactUpdate,
  type JsonObject,
  type Message,
  type Part,
  runEventMetadata,
  type RunEventNote,
  type SendMessageRequest,
  statusUpdate,
  type StreamResponse,
  type Task,
  type TaskState,
  textPart,
} from '#libs/protocol';
import type { RecordedEvent, TaskHeader } from '#libs/tasks';
import type { AgentToolServices } from '../agent/agent-tools.js';

/** Answer of a called agent to its nth Message, from 0. */
export interface CalledAgentAnswer {
  state: TaskState;
  parts?: Part[];
  metadata?: JsonObject;
  /** Error with which the call fails before the agent has created a Task. */
  error?: AgentCallError;
  /** True if the call never ends. */
  hangs?: boolean;
  /** Texts, Artifacts and steps that the agent reports while it works. */
  working?: { says?: string; makes?: Part[]; step?: RunEventNote }[];
  /** Promise that the end of the answer waits for. */
  ends?: Promise<unknown>;
}

export interface FakeCalledAgent {
  card?: Partial<AgentCard>;
  /** Pinned card. */
  pinned?: JsonObject;
  /** Error that fails every read of the card and every connection. */
  away?: AgentCallError;
  served?: Partial<ServedAgent>;
  answer: (nth: number, message: Message) => CalledAgentAnswer;
}

/** Returns an answer with an Artifact. */
export function answers(...parts: Part[]): CalledAgentAnswer {
  return { state: 'TASK_STATE_COMPLETED', parts };
}

/** Returns an answer that asks a question. */
export function asking(text: string, metadata?: JsonObject): CalledAgentAnswer {
  return { state: 'TASK_STATE_INPUT_REQUIRED', parts: [textPart(text)], ...(metadata && { metadata }) };
}

interface KeptTask {
  task: Task;
  responses: StreamResponse[];
}

/** Fake agents: local agents by name, remote agents by URL. They store the Tasks that they have created. */
export class FakeCalledAgents extends AgentDirectory implements AgentToolServices {
  talks?: AgentTalks;
  readonly chains = new CallChains(Buffer.from('a secret'));
  readonly sent: { to: string; message: Message }[] = [];
  /** Records of calls that send no Message, such as `follow task-1` and `cancel task-1`. */
  readonly others: string[] = [];
  readonly spent: string[] = [];
  /** Revisions that callers sent with Messages. */
  readonly revisions = new Set<string>();
  /** Maximum number of calls of a root Task. */
  most = Infinity;
  readonly kept = new Map<string, KeptTask>();
  private readonly children: TaskHeader[] = [];
  private readonly begun = Promise.withResolvers<void>();

  constructor(private readonly agents: Record<string, FakeCalledAgent>) {
    super();
  }

  /** Resolves when an agent has begun to answer a call and will never finish. */
  get hanging(): Promise<void> {
    return this.begun.promise;
  }

  readonly directory = this;

  /** Logs of the Tasks that agents have created. */
  readonly logs = new Map<string, StreamResponse[]>();

  readonly tasks = {
    recordedChildren: async (): Promise<TaskHeader[]> => this.children,
    readEvents: async (taskId: string, after: number, limit: number): Promise<RecordedEvent[]> =>
      (this.logs.get(taskId) ?? []).slice(after, after + limit).map((event) => ({ event }) as RecordedEvent),
  };

  readonly budgets = {
    spendCall: async (root: string): Promise<void> => {
      this.spent.push(root);
      if (this.spent.length <= this.most) return;
      const message = 'BUDGET_EXCEEDED: no calls are left';
      throw new A2AError('UNSUPPORTED_OPERATION', { message, detailReason: 'BUDGET_EXCEEDED' });
    },
  };

  readonly references = {
    callTarget: (reference: string): { own: boolean; findTarget: () => { url: string; calledAgent: string } } => ({
      own: !reference.startsWith('http'),
      findTarget: () => {
        this.agent(reference);
        return { url: reference, calledAgent: reference };
      },
    }),
    findServedAgent: async (reference: string): Promise<ServedAgent> => {
      const { served } = this.agent(reference);
      return { name: reference, description: '', skills: [], ...served } as ServedAgent;
    },
  };

  override async resolveClient(url: string): Promise<AgentClient> {
    const agent = this.agent(url);
    if (agent.away) throw agent.away;
    return new FakeClient(url, this, agent);
  }

  override async resolveCard(url: string): Promise<AgentCard | undefined> {
    const { away, card } = this.agent(url);
    if (away) throw away;
    return card as AgentCard | undefined;
  }

  override async pinnedCard(url: string): Promise<JsonObject | undefined> {
    return this.agent(url).pinned;
  }

  agent(reference: string): FakeCalledAgent {
    const agent = this.agents[reference];
    if (!agent) throw new UnknownAgent(`there is no agent "${reference}"`, 'AGENT_NOT_FOUND');
    return agent;
  }

  /**
   * Returns the Task of a repeated Message; `undefined` for a new Message. A local agent creates one Task for a
   * Message, however often the Message arrives. For a new Message from a Task (`parent`), adds the header of the Task
   * to come to `children`.
   */
  made(message: Message, parent: AgentCallOptions['parent']): KeptTask | undefined {
    const kept = this.kept.get(taskIdOf(message));
    if (!kept && parent) {
      const { reference: parentReference } = parent;
      this.children.push({ taskId: taskIdOf(message), parentReference } as TaskHeader);
    }
    return kept;
  }

  hang(): void {
    this.begun.resolve();
  }
}

class FakeClient extends AgentClient {
  override readonly card: AgentCard | undefined;

  constructor(
    override readonly agentUrl: string,
    private readonly all: FakeCalledAgents,
    private readonly agent: FakeCalledAgent,
  ) {
    super();
    this.card = agent.card as AgentCard | undefined;
  }

  override async *sendMessage(
    { message }: SendMessageRequest,
    options: AgentCallOptions = {},
  ): AsyncGenerator<StreamResponse> {
    const nth = this.all.sent.filter(({ to }) => to === this.agentUrl).length;
    this.all.sent.push({ to: this.agentUrl, message });
    if (options.revision !== undefined) this.all.revisions.add(options.revision);
    const known = this.agentUrl.startsWith('http') ? undefined : this.all.made(message, options.parent);
    if (known && message.taskId === undefined) return yield* known.responses;
    const { state, parts = [], metadata, error, hangs, working = [], ends } = this.agent.answer(nth, message);
    if (error) throw error;
    const taskId = taskIdOf(message);
    const contextId = message.contextId ?? `context-of-${taskId}`;
    const task: Task = { id: taskId, contextId, status: { state: 'TASK_STATE_WORKING' }, history: [message] };
    const reference = { taskId, contextId };
    const ended = statusUpdate(reference, state, state === 'TASK_STATE_COMPLETED' ? undefined : parts);
    const said = ended.statusUpdate.status.message;
    if (said && metadata) said.metadata = metadata;
    const artifact = artifactUpdate(reference, { artifactId: 'made', parts });
    const responses = [{ task }, ...(state === 'TASK_STATE_COMPLETED' ? [artifact] : []), ended];
    if (!hangs) this.all.kept.set(taskId, { task, responses });
    const steps = working.flatMap(({ says, makes, step }): StreamResponse[] => [
      ...(step ? [statusUpdate(reference, 'TASK_STATE_WORKING', undefined, runEventMetadata(step))] : []),
      ...(says === undefined ? [] : [statusUpdate(reference, 'TASK_STATE_WORKING', says)]),
      ...(makes ? [artifactUpdate(reference, { artifactId: 'draft', name: 'draft', parts: makes })] : []),
    ]);
    this.all.logs.set(taskId, [...(this.all.logs.get(taskId) ?? []), ...steps]);
    yield { task };
    yield* steps;
    await ends;
    if (!hangs) return yield* responses.slice(1);
    this.all.hang();
    await new Promise((resolve) => options.signal?.addEventListener('abort', resolve, { once: true }));
    throw new AgentCallError('aborted', 'the call was aborted');
  }

  override async *followTask(taskId: string): AsyncGenerator<StreamResponse> {
    this.all.others.push(`follow ${taskId}`);
    const kept = this.all.kept.get(taskId);
    if (kept === undefined) throw new AgentCallError('not-found', 'a2a error -32001: Task not found');
    yield { task: snapshotOf(kept) };
  }

  override getTask(): Promise<Task> {
    throw new Error('Nobody polls');
  }

  override async cancelTask(taskId: string): Promise<CancelOutcome> {
    this.all.others.push(`cancel ${taskId}`);
    return 'acknowledged';
  }
}

function taskIdOf({ taskId, messageId }: Message): string {
  return taskId ?? `task-${messageId}`;
}

/** Returns the Task in its current state. A client that follows the Task gets it as the first response. */
function snapshotOf({ task, responses }: KeptTask): Task {
  const artifacts = responses.flatMap((it) => ('artifactUpdate' in it ? [it.artifactUpdate.artifact] : []));
  const [status = task.status] = responses.flatMap((it) => ('statusUpdate' in it ? [it.statusUpdate.status] : []));
  return { ...task, status, ...(artifacts.length > 0 && { artifacts }) };
}
