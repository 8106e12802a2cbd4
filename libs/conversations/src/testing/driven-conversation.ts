import { AgentCallError, AgentClient, AgentDirectory, type CallOptions, type CancelOutcome } from '#libs/a2a-client';
import { CallChains, type RequestContext, TaskCanceled } from '#libs/executor';
import {
  artifactUpdate,
  type SendMessageRequest,
  statusUpdate,
  type StreamResponse,
  submittedTask,
  type Task,
  type TaskState,
  textPart,
  userMessage,
} from '#libs/protocol';
import { ANONYMOUS_SCOPE, applyTaskEvent, type TaskEvent, type TaskHeader } from '#libs/tasks';
import type { ConversationSettings } from '../conversation.js';
import { type Budget, ConversationBudgets } from '../conversation-budget.js';
import { type ConversationCommand, ConversationCommands } from '../conversation-command.js';
import { ConversationExecutor } from '../conversation-executor.js';
import { settingsMetadata } from '../conversation-metadata.js';

const REFERENCE = { taskId: 'conversation-1', contextId: 'context-1' };

/** What an agent says to its nth Message (from 0): a text, a question, an error, or nothing for ever. */
export type Behaviour = (nth: number, text: string) => string | { asks: string } | { hangs: true } | Error;

/** One call that a conversation has made: `send b hello`, `follow b task-1`, `cancel b task-1`. */
export type SeenCall = `${'send' | 'follow' | 'cancel'} ${string} ${string}`;

/** Every agent there is, at `http://{name}`. A Task that was made is kept, and can be followed. */
export class TalkingAgents extends AgentDirectory {
  readonly calls: SeenCall[] = [];
  readonly kept = new Map<string, StreamResponse[]>();
  private watchers: (() => void)[] = [];

  constructor(private readonly behaviours: Record<string, Behaviour>) {
    super();
  }

  override async client(url: string): Promise<AgentClient> {
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

  override async *send({ message }: SendMessageRequest, options: CallOptions = {}): AsyncGenerator<StreamResponse> {
    const text = message.parts[0]?.text ?? '';
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
    const responses = answered(reference, answer);
    this.agents.kept.set(reference.taskId, [{ task: { ...begun, history: [message] } }, ...responses]);
    yield* responses;
  }

  override async *follow(taskId: string): AsyncGenerator<StreamResponse> {
    this.agents.note(`follow ${this.agent} ${taskId}`);
    const kept = this.agents.kept.get(taskId);
    if (kept === undefined) throw new AgentCallError('not-found', 'a2a error -32001: Task not found');
    yield* kept;
  }

  override getTask(): Promise<Task> {
    throw new Error('A conversation never polls');
  }

  override async cancel(taskId: string): Promise<CancelOutcome> {
    this.agents.note(`cancel ${this.agent} ${taskId}`);
    return 'acknowledged';
  }
}

function answered(reference: typeof REFERENCE, answer: string | { asks: string }): StreamResponse[] {
  if (typeof answer !== 'string') return [statusUpdate(reference, 'TASK_STATE_INPUT_REQUIRED', answer.asks)];
  const artifact = { artifactId: 'said', parts: [textPart(answer)] };
  return [artifactUpdate(reference, artifact), statusUpdate(reference, 'TASK_STATE_COMPLETED')];
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
  override async after(_id: string, number: number): Promise<ConversationCommand[]> {
    return this.all.slice(number);
  }
}

class FakeBudgets extends ConversationBudgets {
  readonly spent: string[] = [];
  override async spend(_root: string, call: 'turn' | 'announcement'): Promise<Budget> {
    this.spent.push(call);
    return { turns: this.spent.length, calls: this.spent.length, seconds: 0 };
  }
}

/** Runs a conversation as an ExecutionRegistry does, over a log in memory. */
export class DrivenConversation {
  readonly log: TaskEvent[] = [];
  readonly commands = new FakeCommands();
  readonly budgets = new FakeBudgets();
  /** The Tasks that agents of ours made for it. */
  readonly children: Pick<TaskHeader, 'taskId' | 'parentReference'>[] = [];
  /** Called with the log after each event of it. */
  onEvent: (event: TaskEvent) => void = () => undefined;
  private controller = new AbortController();

  constructor(
    readonly agents: TalkingAgents,
    readonly settings: ConversationSettings,
  ) {}

  get task(): Task {
    const [first, ...rest] = this.log;
    if (first === undefined) throw new Error('The conversation has not begun');
    return rest.reduce(applyTaskEvent, applyTaskEvent(undefined, first));
  }

  start(): Promise<TaskState> {
    const message = userMessage(this.settings.message, { messageId: 'm-1' });
    this.log.push({ task: submittedTask(REFERENCE, message, settingsMetadata(this.settings)) });
    return this.turn(null, 0);
  }

  /** The next turn of one that waits. */
  resume(text: string, metadata?: Record<string, boolean>): Promise<TaskState> {
    const { task } = this;
    const received = userMessage(text, { messageId: `m-${this.log.length}`, ...(metadata && { metadata }) });
    this.log.push({ ...statusUpdate(REFERENCE, 'TASK_STATE_WORKING'), received });
    return this.turn(task, 0);
  }

  /** Goes on after a crash that left this log. */
  recover(log: readonly TaskEvent[]): Promise<TaskState> {
    this.log.push(...log);
    return this.turn(null, log.length - 1);
  }

  cancel(): void {
    this.controller.abort(new TaskCanceled());
  }

  shutDown(): void {
    this.controller.abort(new Error('This process stops'));
  }

  private async turn(task: Task | null, recovered: number): Promise<TaskState> {
    const executor = new ConversationExecutor(
      {
        directory: this.agents,
        references: {
          resolve: async (reference) => reference,
          called: (url) => ({ own: false, target: () => ({ url, calledAgent: url }) }),
          refuseUnknown: async () => undefined,
        },
        tasks: { recordedChildren: async () => this.children as TaskHeader[] },
        commands: this.commands,
        chains: new CallChains(Buffer.from('a secret')),
        budgets: this.budgets,
      },
      () => this.settings,
    );
    const context: RequestContext = {
      ...REFERENCE,
      token: 'token',
      userMessage: userMessage(this.settings.message, { messageId: 'm-1' }),
      task,
      recovered,
      call: { scope: ANONYMOUS_SCOPE, agent: 'conversations', extensions: [], baseUrl: 'http://own' },
      metadata: undefined,
      signal: this.controller.signal,
      log: async () => [...this.log],
      admit: () => undefined,
      prove: async () => undefined,
      flush: async () => undefined,
    };
    for await (const event of executor.execute(context)) {
      applyTaskEvent(this.task, event);
      this.log.push(event);
      this.onEvent(event);
    }
    return this.task.status.state;
  }
}

/** A conversation of `a` with `b`. */
export function settingsOf(fields: Partial<ConversationSettings> = {}): ConversationSettings {
  return { requester: 'http://a', target: 'http://b', message: 'hello', maxTurns: 2, timeoutMs: 60_000, ...fields };
}
