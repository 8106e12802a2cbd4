import { AgentCallError, AgentClient, AgentDirectory, type CallOptions, type CancelOutcome } from '#libs/a2a-client';
import {
  type ChainLink,
  CallChains,
  chainMetadata,
  keptChain,
  type RequestContext,
  TaskCanceled,
} from '#libs/executor';
import type { ServiceAddress } from '#libs/http';
import {
  dataPart,
  type SendMessageRequest,
  statusUpdate,
  type StreamResponse,
  submittedTask,
  type Task,
  type TaskState,
  userMessage,
} from '#libs/protocol';
import { ANONYMOUS_SCOPE, applyTaskEvent, type TaskEvent, type TaskHeader, type TaskStore } from '#libs/tasks';
import { Approvals } from '../approvals.js';
import { BrainstormAgent } from '../brainstorm-agent.js';
import { BrainstormProgress } from '../brainstorm-progress.js';
import { BrainstormServices } from '../brainstorm-services.js';
import { type BrainstormSpec, specMetadata } from '../brainstorm-spec.js';
import type { CanonicalState } from '../core/canonical-state.js';
import { brainstormSpec } from '../requested-brainstorm.js';

/** What the brainstorm's service signs links with. */
export const CALL_CHAINS = new CallChains(Buffer.from('secret'));

const REFERENCE = { taskId: 'storm-1', contextId: 'context-1' };

export interface SentPayload {
  role: string;
  state: CanonicalState;
}

/** What an agent does with its nth call (from 0): gives the changed state, throws, or never answers. */
export type Behaviour = (payload: SentPayload, nth: number) => Partial<CanonicalState> | Error | 'hang';

/** One call that a brainstorm has made. */
export interface SeenCall {
  agent: string;
  kind: 'send' | 'follow';
  messageId?: string;
  payload?: SentPayload;
  links?: ChainLink[];
  options: CallOptions;
}

class FakeApprovals extends Approvals {
  readonly approved = new Set<string>();
  override async approve(id: string): Promise<void> {
    this.approved.add(id);
  }
  override async isApproved(id: string): Promise<boolean> {
    return this.approved.has(id);
  }
}

/** Every agent there is, at `http://{name}`. A Task that was made is kept, and can be followed. */
export class FakeAgents extends AgentDirectory {
  readonly calls: SeenCall[] = [];
  readonly cancels: string[] = [];
  readonly kept = new Map<string, StreamResponse[]>();
  private watchers: (() => void)[] = [];

  constructor(readonly behave: (agent: string) => Behaviour) {
    super();
  }

  override async client(url: string): Promise<AgentClient> {
    return new FakeClient(url, this);
  }

  note(call: SeenCall): void {
    this.calls.push(call);
    for (const wake of this.watchers.splice(0)) wake();
  }

  async called(count: number): Promise<void> {
    while (this.calls.length < count) await new Promise<void>((resolve) => this.watchers.push(resolve));
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

  override async *send({ message }: SendMessageRequest, options: CallOptions = {}): AsyncGenerator<StreamResponse> {
    const agent = new URL(this.agentUrl).host;
    const payload = message.parts[0]?.data as unknown as SentPayload;
    const nth = this.agents.calls.filter((call) => call.agent === agent && call.kind === 'send').length;
    this.agents.note({
      agent,
      kind: 'send',
      messageId: message.messageId,
      payload,
      links: keptChain(message.metadata),
      options,
    });
    const answer = this.agents.behave(agent)(payload, nth);
    if (answer instanceof Error) throw answer;
    const id = `task-${message.messageId}`;
    yield { task: { id, contextId: 'c', status: { state: 'TASK_STATE_WORKING' } } };
    if (answer === 'hang') return await aborted(options.signal);
    const responses = completed(id, { ...payload.state, ...answer });
    this.agents.kept.set(id, responses);
    yield* responses;
  }

  override async *follow(taskId: string, options: CallOptions = {}): AsyncGenerator<StreamResponse> {
    this.agents.note({ agent: new URL(this.agentUrl).host, kind: 'follow', options });
    const kept = this.agents.kept.get(taskId);
    if (kept === undefined) throw new AgentCallError('not-found', 'a2a error -32001: Task not found');
    yield* kept;
  }

  override getTask(): Promise<Task> {
    throw new Error('A brainstorm never polls');
  }

  override async cancel(taskId: string): Promise<CancelOutcome> {
    this.agents.cancels.push(taskId);
    return 'acknowledged';
  }
}

function completed(id: string, state: object): StreamResponse[] {
  const reference = { taskId: id, contextId: 'c' };
  const artifact = { artifactId: 'state', parts: [dataPart(state as never)] };
  return [{ artifactUpdate: { ...reference, artifact } }, statusUpdate(reference, 'TASK_STATE_COMPLETED')];
}

async function aborted(signal: AbortSignal | undefined): Promise<never> {
  if (!signal?.aborted) await new Promise((resolve) => signal?.addEventListener('abort', resolve, { once: true }));
  throw new AgentCallError('aborted', 'the call was aborted');
}

/** Runs a brainstorm as an ExecutionRegistry does, over a log in memory. */
export class DrivenBrainstorm {
  readonly log: TaskEvent[] = [];
  readonly approvals = new FakeApprovals();
  /** The Tasks of our own agents that it called for. */
  readonly children: Pick<TaskHeader, 'taskId' | 'parentReference'>[] = [];
  /** How many events the executor has waited for to be durable. */
  durable = 0;
  private controller = new AbortController();

  constructor(
    readonly agents: FakeAgents,
    readonly spec: BrainstormSpec = specOf(['a', 'b']),
  ) {}

  get progress(): BrainstormProgress {
    return BrainstormProgress.of(this.log);
  }

  get task(): Task {
    const [first, ...rest] = this.log;
    if (first === undefined) throw new Error('The brainstorm has not begun');
    return rest.reduce(applyTaskEvent, applyTaskEvent(undefined, first));
  }

  /** @param links the calls that led to it */
  start(links: readonly ChainLink[] = []): Promise<TaskState> {
    const metadata = { ...specMetadata(this.spec), ...chainMetadata(links) };
    this.log.push({ task: submittedTask(REFERENCE, userMessage('idea', { messageId: 'm-1' }), metadata) });
    return this.turn(null, 0);
  }

  /** The next turn of one that awaits input. */
  iterate(): Promise<TaskState> {
    const { task } = this;
    this.log.push({
      ...statusUpdate(REFERENCE, 'TASK_STATE_WORKING'),
      received: userMessage('iterate', { messageId: `m-${this.log.length}` }),
    });
    return this.turn(task, 0);
  }

  /** Goes on after a crash that left this log. */
  recover(log: readonly TaskEvent[]): Promise<TaskState> {
    this.log.push(...log);
    return this.turn(log.length === 1 ? null : this.task, log.length - 1);
  }

  cancel(): void {
    this.controller.abort(new TaskCanceled());
  }

  shutDown(): void {
    this.controller.abort(new Error('This process stops'));
  }

  private async turn(task: Task | null, recovered: number): Promise<TaskState> {
    const address = { internalUrl: 'http://own' } as ServiceAddress;
    const tasks = { recordedChildren: async () => this.children } as unknown as TaskStore;
    const services = new BrainstormServices(this.agents, this.approvals, CALL_CHAINS, address, tasks);
    const { executor } = new BrainstormAgent(services);
    const context: RequestContext = {
      ...REFERENCE,
      token: 'token',
      userMessage: userMessage('any'),
      task,
      recovered,
      call: { scope: ANONYMOUS_SCOPE, agent: 'brainstorms', extensions: [], baseUrl: 'http://own' },
      metadata: undefined,
      signal: this.controller.signal,
      log: async () => [...this.log],
      admit: () => undefined,
      prove: async () => undefined,
      flush: async () => {
        this.durable = this.log.length;
      },
    };
    for await (const event of executor.execute(context)) {
      applyTaskEvent(this.task, event);
      this.log.push(event);
    }
    return this.task.status.state;
  }
}

/** A brainstorm of agents by these names. */
export function specOf(names: string[], fields: Partial<BrainstormSpec> = {}): BrainstormSpec {
  const wanted = { idea: 'an idea', agents: names.map((name) => ({ agent: `http://${name}`, name })) };
  return { ...brainstormSpec(wanted, { llm: {} }), ...fields };
}
