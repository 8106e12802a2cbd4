import {
  AgentCallError,
  type AgentCallOptions,
  AgentClient,
  AgentDirectory,
  type CancelOutcome,
  type RequestSigners,
} from '#libs/a2a-client';
import { type AgentExecutor, CallChains, type ChainLink, chainMetadata, keptChain } from '#libs/agents';
import type { ServiceAddress } from '#libs/http-server';
import {
  dataPart,
  type JsonObject,
  type Message,
  type SendMessageRequest,
  statusUpdate,
  type StreamResponse,
  type Task,
  type TaskState,
  userMessage,
} from '#libs/protocol';
import type { TaskStore } from '#libs/tasks';
import { DrivenProcess } from '../../../../test/support/driven-process.js';
import { Approvals } from '../approvals.js';
import { BrainstormAgent } from '../brainstorm-executor.js';
import { BrainstormProgress } from '../brainstorm-progress.js';
import { BrainstormServices } from '../brainstorm-run.js';
import { type BrainstormSpec, specMetadata } from '../brainstorm-spec.js';
import type { CanonicalState } from '../core/canonical-state.js';
import { brainstormSpec } from '../requested-brainstorm.js';

/** Call chains with which the brainstorm's service signs links. */
export const CALL_CHAINS = new CallChains(Buffer.from('secret'));

interface SentPayload {
  role: string;
  systemPrompt: string;
  state: CanonicalState;
}

/**
 * Behavior of an agent at its nth call (from 0): it returns the changed state, fails with an error, asks a question, or
 * never answers.
 */
export type Behaviour = (payload: SentPayload, nth: number) => Partial<CanonicalState> | Error | 'ask' | 'hang';

/** Call that a brainstorm has made. */
export interface SeenCall {
  agent: string;
  kind: 'send' | 'follow';
  messageId?: string;
  payload?: SentPayload;
  links?: ChainLink[];
  message?: Message;
  options: AgentCallOptions;
}

class FakeApprovals extends Approvals {
  readonly approved = new Set<string>();
  /** Number of further calls of `isApproved` that fail as if the database were down. */
  away = 0;
  override async noteApproval(id: string): Promise<void> {
    this.approved.add(id);
  }
  override async isApproved(id: string): Promise<boolean> {
    if (this.away > 0) {
      this.away -= 1;
      throw Object.assign(new Error('terminating connection'), { code: '57P01' });
    }
    return this.approved.has(id);
  }
}

/** Directory with an agent at every `http://{name}`. A created Task is stored, and can be followed. */
export class FakeAgents extends AgentDirectory {
  readonly calls: SeenCall[] = [];
  readonly cancels: string[] = [];
  /** Returns a promise that delays the answer of an agent to a cancel, if any. */
  canceling = (): Promise<void> | undefined => undefined;
  readonly kept = new Map<string, StreamResponse[]>();
  /** Metadata of the Artifacts of an agent, by its name. */
  readonly metadata: Record<string, JsonObject> = {};
  private watchers: (() => void)[] = [];

  constructor(readonly behave: (agent: string) => Behaviour) {
    super();
  }

  override async resolveClient(url: string): Promise<AgentClient> {
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

  override async *sendMessage(
    { message }: SendMessageRequest,
    options: AgentCallOptions = {},
  ): AsyncGenerator<StreamResponse> {
    const agent = new URL(this.agentUrl).host;
    const payload = message.parts[0]?.data as unknown as SentPayload;
    const nth = this.agents.calls.filter((call) => call.agent === agent && call.kind === 'send').length;
    this.agents.note({
      agent,
      kind: 'send',
      messageId: message.messageId,
      payload,
      links: keptChain(message.metadata),
      message,
      options,
    });
    const answer = this.agents.behave(agent)(payload, nth);
    if (answer instanceof Error) throw answer;
    const id = `task-${message.messageId}`;
    yield { task: { id, contextId: 'c', status: { state: 'TASK_STATE_WORKING' } } };
    if (answer === 'hang') return await aborted(options.signal);
    const responses =
      answer === 'ask'
        ? [statusUpdate({ taskId: id, contextId: 'c' }, 'TASK_STATE_INPUT_REQUIRED', 'which?')]
        : completed(id, { ...payload.state, ...answer }, this.agents.metadata[agent]);
    this.agents.kept.set(id, responses);
    yield* responses;
  }

  override async *followTask(taskId: string, options: AgentCallOptions = {}): AsyncGenerator<StreamResponse> {
    this.agents.note({ agent: new URL(this.agentUrl).host, kind: 'follow', options });
    const kept = this.agents.kept.get(taskId);
    if (kept === undefined) throw new AgentCallError('not-found', 'a2a error -32001: Task not found');
    yield* kept;
  }

  override getTask(): Promise<Task> {
    throw new Error('A brainstorm never polls');
  }

  override async cancelTask(taskId: string): Promise<CancelOutcome> {
    const canceling = this.agents.canceling();
    if (canceling) await canceling;
    this.agents.cancels.push(taskId);
    return 'acknowledged';
  }
}

function completed(id: string, state: object, metadata?: JsonObject): StreamResponse[] {
  const reference = { taskId: id, contextId: 'c' };
  const artifact = { artifactId: 'state', parts: [dataPart(state as never)], ...(metadata && { metadata }) };
  return [{ artifactUpdate: { ...reference, artifact } }, statusUpdate(reference, 'TASK_STATE_COMPLETED')];
}

async function aborted(signal: AbortSignal | undefined): Promise<never> {
  if (!signal?.aborted) await new Promise((resolve) => signal?.addEventListener('abort', resolve, { once: true }));
  throw new AgentCallError('aborted', 'the call was aborted');
}

/** Brainstorm with a log in memory. */
export class DrivenBrainstorm extends DrivenProcess {
  readonly approvals = new FakeApprovals();
  /** Stored credentials with their hosts. */
  readonly hosts: Record<string, string[]> = {};
  private readonly signers: Pick<RequestSigners, 'reachesOrigins'> = {
    reachesOrigins: async ({ credential }, origins) => origins.some((it) => this.hosts[credential]?.includes(it)),
  };

  constructor(
    readonly agents: FakeAgents,
    readonly spec: BrainstormSpec = specOf(['a', 'b']),
  ) {
    super('brainstorms', 'storm-1');
  }

  get progress(): BrainstormProgress {
    return BrainstormProgress.fromEvents(this.log);
  }

  /** Starts the brainstorm. @param links calls that led to the brainstorm */
  start(links: readonly ChainLink[] = []): Promise<TaskState> {
    const metadata = { ...specMetadata(this.spec), ...chainMetadata(links) };
    return this.begin(userMessage('idea', { messageId: 'm-1' }), metadata);
  }

  /** Continues a brainstorm that awaits input. */
  iterate(): Promise<TaskState> {
    return this.goOn(userMessage('iterate', { messageId: `m-${this.log.length}` }));
  }

  protected override executor(): AgentExecutor {
    const address = { internalUrl: 'http://own' } as ServiceAddress;
    const tasks = this.tasks as unknown as TaskStore;
    const { agents, approvals, signers } = this;
    return new BrainstormAgent(
      new BrainstormServices(agents, approvals, CALL_CHAINS, address, tasks, signers as unknown as RequestSigners),
    ).executor;
  }
}

/** Returns the specification of a brainstorm with agents of these names. */
export function specOf(names: string[], fields: Partial<BrainstormSpec> = {}): BrainstormSpec {
  const wanted = { idea: 'an idea', agents: names.map((name) => ({ agent: `http://${name}`, name })) };
  return { ...brainstormSpec(wanted, { llm: {} }), ...fields };
}
