import type { AppliedLimit, LimitRequest, SlotOutcome } from '#libs/limits';
import { CallChains, ExecutionInterrupted, type RequestContext, TaskCanceled } from '#libs/agents';
import { RemoteContexts, type RemoteTalk, talkKey } from '#libs/durable';
import {
  isWaitingState,
  type JsonObject,
  type Message,
  statusUpdate,
  submittedTask,
  type Task,
  type TaskReference,
  type TaskState,
  userMessage,
} from '#libs/protocol';
import { DEFAULT_CONTENT_LIMITS } from '#libs/service';
import {
  ANONYMOUS_SCOPE,
  applyTaskEvent,
  endsTurn,
  eventsAfter,
  FoldMemory,
  placeOfEvent,
  type RecordedEvent,
  type TaskEvent,
  type TaskHeader,
  type TaskStore,
  toStreamResponse,
} from '#libs/tasks';
import type { WorkflowDefinition } from '#libs/workflow-definition';
import {
  type LaterOutcome,
  type MovedOnChild,
  type RerunOrigin,
  type RunChild,
  RunChildStore,
  RunFolds,
  type RunServices,
  type SlotRequest,
} from '../execution/run-services.js';
import { WorkflowExecutor } from '../execution/workflow-executor.js';
import { RunState } from '../state/run-state.js';
import { type StreamedRunEvent, toRunEvent } from '../views/run-event.js';
import { workLimits } from '../work/node-room.js';
import { WorkBudget } from '../work/work-budget.js';
import type { FakeAgents } from './fake-agents.js';
import { FakeClock } from './fake-clock.js';

class FakeRunChildren extends RunChildStore {
  readonly remembered: RunChild[] = [];
  /** Questions of remote Tasks that resumed or ended without an answer from the run. */
  readonly found: MovedOnChild[] = [];

  override async rememberChild(child: RunChild): Promise<void> {
    this.remembered.push(child);
  }

  override async listChildren(): Promise<RunChild[]> {
    return this.remembered;
  }

  override async movedOn(): Promise<MovedOnChild[]> {
    return this.found;
  }
}

export class FakeRemoteContexts extends RemoteContexts {
  private readonly kept = new Map<string, string>();

  override async findContext(talk: RemoteTalk): Promise<string | undefined> {
    return this.kept.get(talkKey(talk));
  }

  override async keepContext(talk: RemoteTalk, contextId: string): Promise<void> {
    this.kept.set(talkKey(talk), contextId);
  }
}

/**
 * Cache of run states (RunFolds) that stores the state of every run, even with a short log, and reports when it has
 * stored one.
 */
export class DrivenFolds extends RunFolds {
  protected override readonly shortest = 0;
  /** Resolves when the state after the newest turn is stored. */
  newest: Promise<void> = Promise.resolve();

  /** Number of stored states. */
  get count(): number {
    return this.kept.size;
  }

  override keepFold(...args: Parameters<RunFolds['keepFold']>): Promise<void> {
    return (this.newest = super.keepFold(...args));
  }
}

/** Runs a WorkflowExecutor as an ExecutionRegistry does, with a log in memory, and records its events. */
export class DrivenRun {
  readonly log: TaskEvent[] = [];
  readonly children = new FakeRunChildren();
  /** Cache of states that this process stores between turns; a recovered run begins with an empty cache. */
  folds = new DrivenFolds({ readEvents: async () => this.recordedAfter(0) } as unknown as TaskStore, new FoldMemory());
  /** Number of events that each turn has read from the log. */
  readonly eventsRead: number[] = [];
  /** Called with each event before it is recorded. A test throws here to simulate a full log. */
  admit: (event: TaskEvent) => void = () => undefined;
  /** Size and limit of the log in bytes, if the log is nearly full. */
  nearlyFull: { bytes: number; limit: number } | undefined;
  /** Stored contexts at the agents of this run and of earlier runs. */
  contexts: RemoteContexts = new FakeRemoteContexts();
  /** Outcomes of the cancels of Tasks that the run gave up. */
  readonly keptCancels: LaterOutcome[] = [];
  /** Children in the store of the service: `node#attempt` to Task id. */
  readonly own = new Map<string, string>();
  readonly clock = new FakeClock();
  /** Headers of Tasks in the store of the service, by Task id. */
  readonly headers = new Map<string, TaskHeader>();
  /** Messages with which Tasks in the store wait, by Task id. */
  readonly waitingMessages = new Map<string, Message>();
  /** Original runs of reruns, by run id. */
  readonly origins = new Map<string, RerunOrigin>();
  localDispatch = true;
  /** Returns the outcome of a request for a slot. */
  requestSlot: (request: SlotRequest | LimitRequest) => SlotOutcome = () => 'held';
  /** Limits that the run must pass before it begins. */
  limits: AppliedLimit[] = [];
  /** Work budget that the run shares with other runs. */
  work = new WorkBudget(workLimits(1_000));
  /** Promise that a test sets: no event becomes durable before it resolves. */
  databaseIsBack: Promise<void> = Promise.resolve();
  /** Set by a test to true if another replica has claimed the run, so that this one cannot write it. */
  isTakenOver = false;
  /** Number of events for whose durability the executor has waited. */
  durable = 0;
  /** Resolves with the Task's state at the end of the newest turn. */
  latest: Promise<TaskState> = Promise.resolve('TASK_STATE_SUBMITTED');
  private controller = new AbortController();
  private watchers: (() => void)[] = [];

  constructor(
    readonly definition: WorkflowDefinition,
    readonly agents: FakeAgents,
    private readonly runId = 'run-1',
  ) {}

  private get reference(): TaskReference {
    return { taskId: this.runId, contextId: 'context-1' };
  }

  get state(): RunState {
    return RunState.fromEvents(this.definition, this.log);
  }

  get task(): Task {
    const [first, ...rest] = this.log;
    if (first === undefined) throw new Error('The run has not begun');
    return rest.reduce(applyTaskEvent, applyTaskEvent(undefined, first));
  }

  /** Types of the recorded steps, with the instance if the step has one: `node.started b@2`. */
  get steps(): string[] {
    return this.runEvents.map(({ type, node_id, instance = node_id }) =>
      instance === undefined ? type : `${type} ${instance}`,
    );
  }

  /** Attempts for which agents were sent a Message by this process, such as `b@2#1`. */
  get sent(): string[] {
    return this.agents.calls.flatMap(({ kind, attempt }) => (kind === 'send' ? [attempt] : []));
  }

  /** Returns the payloads of the events of a type; if an instance is given, only its events. */
  payloads(type: string, instance?: string): JsonObject[] {
    const events = this.runEvents.filter((event) => event.type === type);
    return events.flatMap((event) =>
      instance === undefined || (event.instance ?? event.node_id) === instance ? [event.payload] : [],
    );
  }

  get runEvents(): StreamedRunEvent[] {
    return this.log.map((event, index) =>
      toRunEvent(recorded(this.runId, event, index + 1), { workflow: this.definition.name }),
    );
  }

  /** Starts the run with a Message. Resolves when the first turn is over. */
  start(content: Parameters<typeof userMessage>[0] | Message = 'hello', metadata?: JsonObject): Promise<TaskState> {
    const isMessage = typeof content === 'object' && 'messageId' in content;
    const message = isMessage ? content : userMessage(content, { messageId: 'm-1' });
    const request = { message, ...(metadata && { metadata }) };
    this.log.push({
      task: submittedTask(this.reference, message, this.executor().taskMetadata(request, { scope: ANONYMOUS_SCOPE })),
    });
    return this.turn({ userMessage: message, task: null, recovered: 0 });
  }

  /** Runs the next turn, with a Message to the waiting run. */
  answer(message: Message): Promise<TaskState> {
    const { task } = this;
    this.log.push({ ...statusUpdate(this.reference, 'TASK_STATE_WORKING'), received: message });
    return this.turn({ userMessage: message, task, recovered: 0 });
  }

  /** Recovers the run after a crash. @param log events that were durable at the crash */
  recover(log: readonly TaskEvent[]): Promise<TaskState> {
    this.log.push(...log);
    return this.turn({
      userMessage: userMessage('any'),
      task: log.length === 1 ? null : this.task,
      recovered: log.length - 1,
    });
  }

  /** Runs the next turn of a parked run (one that only waits for a time), as a replica does when the run is due. */
  wake(): Promise<TaskState> {
    const { task } = this;
    const before = this.log.length;
    if (isWaitingState(task.status.state)) this.log.push(statusUpdate(this.reference, 'TASK_STATE_WORKING'));
    return this.turn({ userMessage: userMessage('any'), task: null, recovered: before });
  }

  /** Cancels a waiting run as the registry does: with one more turn whose signal is aborted from the start. */
  cancelWaiting(): Promise<TaskState> {
    this.cancel();
    return this.turn({ userMessage: userMessage('any'), task: this.task, recovered: 0 });
  }

  cancel(): void {
    this.controller.abort(new TaskCanceled());
  }

  shutDown(): void {
    this.controller.abort(new Error('This process stops'));
  }

  /** Resolves when the step (see `steps`) is recorded. */
  async until(step: string): Promise<void> {
    while (!this.steps.includes(step)) await new Promise<void>((resolve) => this.watchers.push(resolve));
  }

  private recordedAfter(sequence: number): RecordedEvent[] {
    return this.log.slice(sequence).map((event, index) => recorded(this.runId, event, sequence + index + 1));
  }

  private executor(): WorkflowExecutor {
    const { definition } = this;
    return new WorkflowExecutor(
      { definition, revision: 'r1', createdAt: new Date(0), updatedAt: new Date(0) },
      this.services(),
    );
  }

  private turn(start: Pick<RequestContext, 'userMessage' | 'task' | 'recovered'>): Promise<TaskState> {
    this.latest = this.execute(start);
    return this.latest;
  }

  private async execute(start: Pick<RequestContext, 'userMessage' | 'task' | 'recovered'>): Promise<TaskState> {
    const context: RequestContext = {
      ...this.reference,
      ...start,
      token: 'token',
      call: {
        scope: ANONYMOUS_SCOPE,
        agent: `workflows/${this.definition.name}`,
        extensions: [],
        baseUrl: 'http://own',
      },
      metadata: undefined,
      signal: this.controller.signal,
      readTaskLog: async () => {
        this.eventsRead.push(this.log.length);
        return [...this.log];
      },
      places: {
        nearlyFull: () => this.nearlyFull,
        readLast: async () => {
          const [last] = this.recordedAfter(this.log.length - 1);
          return last && { place: placeOfEvent(last), bytes: this.log.length };
        },
        readAfter: async (place) => {
          const later = await eventsAfter(async (after) => this.recordedAfter(after), place, this.log.length);
          if (later) this.eventsRead.push(later.length);
          return later;
        },
      },
      assertRecordable: (event) => this.admit(event),
      assertClaimHeld: async () => {
        if (this.isTakenOver) throw new ExecutionInterrupted('Another replica has the run');
        this.controller.signal.throwIfAborted();
      },
      flush: async () => {
        const { length } = this.log;
        await this.databaseIsBack;
        this.durable = length;
      },
    };
    for await (const event of this.executor().execute(context)) {
      applyTaskEvent(this.task, event);
      this.log.push(event);
      for (const wake of this.watchers.splice(0)) wake();
      if (endsTurn(event)) break;
    }
    await this.folds.newest;
    return this.task.status.state;
  }

  private services(): RunServices {
    const recordedChildren = async (): Promise<TaskHeader[]> =>
      [...this.own].map(([parentReference, taskId]) => ({ parentReference, taskId }) as TaskHeader);
    return {
      directory: this.agents,
      tasks: {
        recordedChildren,
        readHeaders: async () => this.headers,
        loadTask: async (taskId: string) => ({ task: { status: { message: this.waitingMessages.get(taskId) } } }),
      } as unknown as TaskStore,
      children: this.children,
      folds: this.folds,
      contexts: this.contexts,
      cancels: { recordOutcome: async (outcome) => void this.keptCancels.push(outcome) },
      origins: { findOrigin: async (runId) => this.origins.get(runId) },
      slots: {
        findLimits: async () => this.limits,
        requestSlot: async (_run, request) => this.requestSlot(request),
        waitForSlot: async () => undefined,
      },
      budgets: { openBudget: async () => undefined, findExceeded: async () => undefined },
      chains: new CallChains(Buffer.from('a secret')),
      address: { internalUrl: 'http://own' },
      localDispatch: this.localDispatch,
      content: DEFAULT_CONTENT_LIMITS,
      clock: this.clock,
      work: this.work,
    };
  }
}

function recorded(taskId: string, event: TaskEvent, sequence: number): RecordedEvent {
  return { taskId, sequence, event, json: JSON.stringify(toStreamResponse(event)) };
}

/**
 * Creates a definition with edges such as `a>b a>c`. Nodes are agents, except the input `in`, externals `ext…` and
 * outputs `out…`.
 */
export function workflowOf(ids: string, edges: string, fields: Partial<WorkflowDefinition> = {}): WorkflowDefinition {
  return {
    name: 'wf',
    nodes: ids.split(' ').map((id) => ({ id, type: typeOf(id), config: configOf(id) })),
    edges: edges
      .split(' ')
      .filter(Boolean)
      .map((edge) => ({ from: edge.split('>')[0] ?? '', to: edge.split('>')[1] ?? '' })),
    ...fields,
  };
}

function typeOf(id: string): string {
  if (id.startsWith('ext')) return 'external';
  if (id.startsWith('out')) return 'output';
  return id === 'in' ? 'input' : 'agent';
}

function configOf(id: string): Record<string, string> {
  return typeOf(id) === 'external' ? { endpoint_url: `http://remote/${id}` } : {};
}
