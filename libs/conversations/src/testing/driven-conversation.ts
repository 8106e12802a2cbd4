import {
  AgentCallError,
  type AgentCallOptions,
  AgentClient,
  AgentDirectory,
  type CancelOutcome,
} from '#libs/a2a-client';
import { CallChains } from '#libs/agents';
import {
  artifactUpdate,
  type JsonObject,
  type Message,
  type SendMessageRequest,
  statusUpdate,
  type StreamResponse,
  type Task,
  type TaskReference,
  type TaskState,
  textPart,
  userMessage,
} from '#libs/protocol';
import { DrivenProcess } from '../../../../test/support/driven-process.js';
import { type Budget, ConversationBudgets } from '../conversation-budget.js';
import { type CommandKind, type ConversationCommand, ConversationCommands } from '../conversation-command.js';
import { ConversationExecutor } from '../conversation-executor.js';
import { settingsMetadata, WAKE_KEY } from '../conversation-state.js';
import type { ConversationSettings } from '../conversation.js';

/** Question with which an agent answers. */
interface Asking {
  asks: string;
  /** State in which the agent's Task waits for the answer. */
  state?: TaskState;
  /** Metadata of the Message with the question, which may require that a person answers. */
  metadata?: JsonObject;
}

/** Text with which an agent answers after some milliseconds. */
interface Late {
  says: string;
  afterMs: number;
}

/**
 * Behavior of an agent: its answer to its nth Message (from 0) is a text, at once or late, a question, an error, or
 * none.
 */
export type Behaviour = (nth: number, text: string) => string | Late | Asking | { hangs: true } | Error;

/** Call that a conversation has made: `send b hello`, `follow b task-1`, `cancel b task-1`. */
export type SeenCall = `${'send' | 'follow' | 'cancel'} ${string} ${string}`;

/** Directory with an agent at every `http://{name}`. A created Task is stored, and can be followed. */
export class TalkingAgents extends AgentDirectory {
  readonly calls: SeenCall[] = [];
  /** All sent Messages, with the host of the agent and the requested revision. */
  readonly sent: { to: string; message: Message; revision?: string }[] = [];
  /** Agents whose cards declare every extension. */
  readonly declaring: string[] = [];
  readonly kept = new Map<string, StreamResponse[]>();
  private watchers: (() => void)[] = [];

  constructor(private readonly behaviours: Record<string, Behaviour>) {
    super();
  }

  override async resolveClient(url: string): Promise<AgentClient> {
    return new TalkingClient(url, this);
  }

  note(call: SeenCall): void {
    this.calls.push(call);
    for (const wake of this.watchers.splice(0)) wake();
  }

  async called(call: SeenCall): Promise<void> {
    while (!this.calls.includes(call)) await new Promise<void>((resolve) => this.watchers.push(resolve));
  }

  answer(agent: string, text: string): ReturnType<Behaviour> {
    const nth = this.calls.filter((call) => call.startsWith(`send ${agent} `)).length - 1;
    return this.behaviours[agent]?.(nth, text) ?? `${agent} heard: ${text}`;
  }
}

class TalkingClient extends AgentClient {
  override readonly card = undefined;

  constructor(
    override readonly agentUrl: string,
    private readonly agents: TalkingAgents,
  ) {
    super();
  }

  private get agent(): string {
    return new URL(this.agentUrl).host;
  }

  override declaresExtension(): boolean {
    return this.agents.declaring.includes(this.agent);
  }

  override async *sendMessage(
    { message }: SendMessageRequest,
    options: AgentCallOptions = {},
  ): AsyncGenerator<StreamResponse> {
    const text = message.parts.at(-1)?.text ?? '';
    const { revision } = options;
    this.agents.sent.push({ to: this.agent, message, ...(revision !== undefined && { revision }) });
    this.agents.note(`send ${this.agent} ${text}`);
    const answer = this.agents.answer(this.agent, text);
    if (answer instanceof Error) throw answer;
    const reference = { taskId: message.taskId ?? `task-${message.messageId}`, contextId: `context-of-${this.agent}` };
    const begun: Task = {
      id: reference.taskId,
      contextId: reference.contextId,
      status: { state: 'TASK_STATE_WORKING' },
    };
    yield { task: begun };
    if (typeof answer === 'object' && 'hangs' in answer) return await aborted(options.signal);
    if (typeof answer === 'object' && 'says' in answer) await passed(answer.afterMs, options.signal);
    const responses = answered(reference, typeof answer === 'object' && 'says' in answer ? answer.says : answer);
    this.agents.kept.set(reference.taskId, [{ task: { ...begun, history: [message] } }, ...responses]);
    yield* responses;
  }

  override async *followTask(taskId: string): AsyncGenerator<StreamResponse> {
    this.agents.note(`follow ${this.agent} ${taskId}`);
    const kept = this.agents.kept.get(taskId);
    if (kept === undefined) throw new AgentCallError('not-found', 'a2a error -32001: Task not found');
    yield* kept;
  }

  override getTask(): Promise<Task> {
    throw new Error('A conversation never polls');
  }

  override async cancelTask(taskId: string): Promise<CancelOutcome> {
    this.agents.note(`cancel ${this.agent} ${taskId}`);
    return 'acknowledged';
  }
}

function answered(reference: TaskReference, answer: string | Asking): StreamResponse[] {
  if (typeof answer !== 'string') {
    const { asks, state = 'TASK_STATE_INPUT_REQUIRED', metadata } = answer;
    const asking = statusUpdate(reference, state, asks);
    if (asking.statusUpdate.status.message && metadata) asking.statusUpdate.status.message.metadata = metadata;
    return [asking];
  }
  const artifact = { artifactId: 'said', parts: [textPart(answer)] };
  return [artifactUpdate(reference, artifact), statusUpdate(reference, 'TASK_STATE_COMPLETED')];
}

async function passed(afterMs: number, signal: AbortSignal | undefined): Promise<void> {
  await Promise.race([new Promise((resolve) => setTimeout(resolve, afterMs)), aborted(signal)]);
}

async function aborted(signal: AbortSignal | undefined): Promise<never> {
  if (!signal?.aborted) await new Promise((resolve) => signal?.addEventListener('abort', resolve, { once: true }));
  throw new AgentCallError('aborted', 'the call was aborted');
}

class FakeCommands extends ConversationCommands {
  readonly all: ConversationCommand[] = [];

  override async add(_id: string, command: Omit<ConversationCommand, 'number'>): Promise<number> {
    return this.all.push({ ...command, number: this.all.length + 1 });
  }
  override async listAfter(_id: string, number: number): Promise<ConversationCommand[]> {
    return this.all.slice(number);
  }
}

class FakeBudgets extends ConversationBudgets {
  readonly spent: string[] = [];
  override async countCall(_root: string, call: 'turn' | 'announcement'): Promise<Budget> {
    this.spent.push(call);
    return { turns: this.spent.length, calls: this.spent.length, seconds: 0 };
  }
}

/** Conversation with a log in memory. */
export class DrivenConversation extends DrivenProcess {
  /** Names of local agents; all other agents are remote. */
  own: readonly string[] = [];
  readonly commands = new FakeCommands();
  readonly budgets = new FakeBudgets();

  constructor(
    readonly agents: TalkingAgents,
    readonly settings: ConversationSettings,
  ) {
    super('conversations', 'conversation-1');
  }

  start(message = userMessage(this.settings.message, { messageId: 'm-1' })): Promise<TaskState> {
    return this.begin(message, settingsMetadata(this.settings));
  }

  /** Resumes a waiting conversation with a text. */
  resume(text: string, metadata?: Record<string, boolean>): Promise<TaskState> {
    return this.goOn(userMessage(text, { messageId: `m-${this.log.length}`, ...(metadata && { metadata }) }));
  }

  /** Adds a command and resumes the waiting conversation to execute it. */
  async command(kind: CommandKind, text?: string): Promise<TaskState> {
    await this.commands.add('', { kind, ...(text !== undefined && { text }) });
    return this.resume('', { [WAKE_KEY]: true });
  }

  protected override executor(): ConversationExecutor {
    const services = {
      directory: this.agents,
      references: {
        areSame: async (one: string, other: string) => one === other,
        isOwn: (url: string) => this.own.includes(new URL(url).host),
        callTarget: (url: string) => ({
          own: this.own.includes(new URL(url).host),
          findTarget: () => ({ url, calledAgent: url }),
        }),
        refuseUnknown: async () => undefined,
      },
      tasks: this.tasks,
      commands: this.commands,
      chains: new CallChains(Buffer.from('a secret')),
      budgets: this.budgets,
    };
    return new ConversationExecutor(services, () => this.settings);
  }
}

/** Returns the settings of a conversation of `a` with `b`. */
export function settingsOf(fields: Partial<ConversationSettings> = {}): ConversationSettings {
  return { requester: 'http://a', target: 'http://b', message: 'hello', maxTurns: 2, timeoutMs: 60_000, ...fields };
}
