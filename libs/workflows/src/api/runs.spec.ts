import { type AgentCatalog, type ServedAgent, UnknownAgent } from '#libs/agents';
import { Processes } from '#libs/durable';
import type { ExecutionRegistry } from '#libs/executor';
import { ProblemError } from '#libs/http-server';
import {
  A2AError,
  runEventMetadata,
  type SendMessageRequest,
  statusUpdate,
  submittedTask,
  type TaskState,
  userMessage,
} from '#libs/protocol';
import {
  applyTaskEvent,
  FoldMemory,
  type RecordedEvent,
  type RunBudgets,
  type TaskEvent,
  type TaskHeader,
  type TaskStore,
} from '#libs/tasks';
import { done, type LaterOutcome, RunFolds, runMetadata, workflowCanceled } from '#libs/workflow-engine';
import type { CancelOutcomes } from '../storage/postgres-run-stores.js';
import { MemoryWorkflowStore } from '../testing/memory-workflow-store.js';
import { Runs } from './runs.js';

const reference = { taskId: 'r1', contextId: 'c1' };
const canceledChild = { node: 'a', agentUrl: 'http://there', taskId: 't1', outcome: 'acknowledged' as const };

/** Fake service with one run. A test writes the log of that run, and the calls to the other services are recorded. */
class FakeServices {
  log: TaskEvent[] = [];
  agent = 'workflows/w';
  children: Partial<TaskHeader>[] = [];
  asked: unknown[] = [];
  later: LaterOutcome[] = [];
  workflows = new MemoryWorkflowStore();
  onCancel: () => void = () => this.end('TASK_STATE_CANCELED');

  async open(): Promise<void> {
    const definition = { name: 'w', nodes: [{ id: 'a', type: 'agent', config: {} }], edges: [] };
    await this.workflows.createWorkflow(definition);
    const metadata = runMetadata({ workflow: 'w', revision: '1', inputs: { a: 'x' } });
    this.log.push({ task: submittedTask(reference, userMessage('x'), metadata) });
  }

  end(state: TaskState): void {
    if (state === 'TASK_STATE_CANCELED')
      this.record('TASK_STATE_WORKING', workflowCanceled.createNote({ children: [canceledChild] }));
    this.record(state, done.createNote({ status: 'over', state: {} }));
  }

  runs(): Runs {
    const children = {
      rememberChild: async () => undefined,
      movedOn: async () => [],
      listChildren: async () => [
        { runId: 'r1', nodeId: 'a', attempt: 0, taskId: 'remembered', agentUrl: 'http://there' },
      ],
    };
    const cancels = { recordOutcome: async () => undefined, listOutcomes: async () => this.later };
    const processes = new Processes(this.catalog, this.executions, this.tasks);
    const folds = new RunFolds(this.tasks, new FoldMemory());
    return new Runs(
      processes,
      this.tasks,
      this.workflows,
      children,
      cancels as unknown as CancelOutcomes,
      folds,
      {} as RunBudgets,
    );
  }

  private record(state: TaskState, note: Parameters<typeof runEventMetadata>[0]): void {
    this.log.push(statusUpdate(reference, state, undefined, runEventMetadata(note)));
  }

  private catalog: AgentCatalog = {
    inTenant: () => this.catalog,
    resolveAgent: async (path: string, revision?: string) => {
      if (path !== 'workflows/w') throw new UnknownAgent('nobody', 'AGENT_NOT_FOUND');
      this.asked.push(['resolve', path, revision]);
      return {
        path,
        executor: { checkRequest: (request: SendMessageRequest) => this.check(request) },
      } as unknown as ServedAgent;
    },
  } as unknown as AgentCatalog;

  private check({ message }: SendMessageRequest): void {
    if (JSON.stringify(message.parts).includes('refuse me')) throw new A2AError('INVALID_PARAMS');
  }

  private executions = {
    files: { keepFiles: async (request: SendMessageRequest) => request },
    beginExecution: (agent: ServedAgent, request: SendMessageRequest, call: object) => {
      this.asked.push(['begin', agent.path, request.message.parts, call]);
      const settled = Promise.reject(new Error('interrupted'));
      settled.catch(() => undefined);
      return { taskId: 'r1', accepted: Promise.resolve({}), settled };
    },
    cancelAndWait: async () => this.onCancel(),
  } as unknown as ExecutionRegistry;

  private get header(): TaskHeader | undefined {
    const task = this.log.reduce<ReturnType<typeof applyTaskEvent> | undefined>(applyTaskEvent, undefined);
    if (!task) return undefined;
    const times = { createdAt: new Date(0), updatedAt: new Date(1) };
    const { agent, log } = this;
    return { ...reference, tenant: '', owner: '', agent, state: task.status.state, lastSequence: log.length, ...times };
  }

  private tasks = {
    readHeader: async (id: string) => (id === 'r1' ? this.header : undefined),
    loadTask: async (id: string) => {
      const { header } = this;
      if (id !== 'r1' || !header) return undefined;
      return {
        header,
        task: this.log.reduce<ReturnType<typeof applyTaskEvent> | undefined>(applyTaskEvent, undefined),
      };
    },
    readLog: async (id: string) => (id === 'r1' && this.header ? { header: this.header } : undefined),
    readEvents: async () =>
      this.log.map((event, index): RecordedEvent => ({ taskId: 'r1', sequence: index + 1, event, json: '' })),
    listChildren: async () => this.children,
  } as unknown as TaskStore;
}

const HERE = { scope: { tenant: '', owner: '' }, baseUrl: 'http://here' };

let services: FakeServices;

beforeEach(async () => {
  services = new FakeServices();
  await services.open();
});

async function refusal(promise: Promise<unknown>): Promise<ProblemError> {
  const error = await promise.catch((it: unknown) => it);
  if (!(error instanceof ProblemError)) throw new Error('Expected ProblemError', { cause: error });
  return error;
}

describe('Runs', () => {
  it('starts a run with a Message of its inputs', async () => {
    expect(await services.runs().startRun('w', { inputs: { a: 'x' } }, HERE)).toEqual({
      taskId: 'r1',
      agent: 'workflows/w',
    });
    const call = { ...HERE, agent: 'workflows/w', extensions: [], namesInputs: true };
    expect(services.asked).toEqual([
      ['resolve', 'workflows/w', undefined],
      ['begin', 'workflows/w', [{ data: { a: 'x' }, mediaType: 'application/json' }], call],
    ]);
  });

  it('starts nothing that the workflow refuses', async () => {
    await expect(services.runs().startRun('w', { inputs: { a: 'refuse me' } }, HERE)).rejects.toThrow(A2AError);
    expect(services.asked).toHaveLength(1);
  });

  it.each(['nope', 'w/nodes/a', '', 'a b', 'w\u0000'])('knows no workflow %j', async (name) => {
    expect(await refusal(services.runs().startRun(name, { inputs: {} }, HERE))).toMatchObject({
      status: 404,
      message: 'workflow not found',
    });
  });

  it('shows a run, with the children that its log does not name', async () => {
    services.children = [
      { taskId: 'own', parentReference: 'a#0' },
      { taskId: 'odd', parentReference: 'no reference' },
      { taskId: 'x' },
    ];
    expect(await services.runs().viewRun('r1', HERE)).toMatchObject({
      runId: 'r1',
      workflow: 'w',
      status: 'running',
      inputs: { a: 'x' },
      nodes: { a: { status: 'pending', attempts: 0, taskId: 'own', agentUrl: 'http://here/a2a/workflows/w/nodes/a' } },
    });
  });

  it('shows of which kind a failure is, also of a run whose log does not say it', async () => {
    services.end('TASK_STATE_FAILED');
    expect((await services.runs().viewRun('r1', HERE)).error).toEqual({ kind: 'failed', message: 'The run failed' });
  });

  it('shows a run of a workflow that was deleted since', async () => {
    await services.workflows.delete('w');
    expect((await services.runs().viewRun('r1', HERE)).nodes).toHaveProperty('a');
  });

  it.each(['nope', '', 'r1\u0000', 'x'.repeat(300)])('knows no run %j', async (id) => {
    for (const asked of [
      services.runs().viewRun(id, HERE),
      services.runs().cancelRun(id, HERE),
      services.runs().findHeader(id, HERE.scope),
    ]) {
      expect(await refusal(asked)).toMatchObject({ status: 404, message: 'run not found' });
    }
  });

  it('takes only the Tasks of workflows for runs', async () => {
    services.agent = 'workflows/w/nodes/a';
    services.log = [{ task: submittedTask(reference, userMessage('x')) }];
    for (const asked of [
      services.runs().viewRun('r1', HERE),
      services.runs().cancelRun('r1', HERE),
      services.runs().findHeader('r1', HERE.scope),
      services.runs().readRunDefinition('r1', HERE.scope),
    ])
      expect((await refusal(asked)).status).toBe(404);
  });

  it('takes the Task of a node for a run where it is one', async () => {
    services.agent = 'workflows/outer/nodes/tr';
    expect(await services.runs().viewRun('r1', HERE)).toMatchObject({ runId: 'r1', workflow: 'w', inputs: { a: 'x' } });
    expect((await services.runs().findHeader('r1', HERE.scope)).workflow).toBe('w');
    expect((await services.runs().readRunDefinition('r1', HERE.scope)).name).toBe('w');
  });

  it('cancels a run, by the revision that it was started with, and says the same again', async () => {
    const report = { runId: 'r1', status: 'canceled', children: [canceledChild] };
    expect(await services.runs().cancelRun('r1', HERE)).toEqual(report);
    expect(services.asked).toEqual([['resolve', 'workflows/w', '1']]);
    expect(await services.runs().cancelRun('r1', HERE)).toEqual(report);
    expect(services.asked).toHaveLength(1);
  });

  it('says the newest of a cancel that was tried again, and not what an earlier start of the node had', async () => {
    services.later = [
      { runId: 'r1', node: 'a', attempt: 7, outcome: 'unreachable' },
      { runId: 'r1', node: 'a', attempt: 0, outcome: 'refused' },
    ];
    expect((await services.runs().cancelRun('r1', HERE)).children).toEqual([{ ...canceledChild, outcome: 'refused' }]);
    expect((await services.runs().viewRun('r1', HERE)).children).toEqual([{ ...canceledChild, outcome: 'refused' }]);
  });

  it('refuses to cancel a run that has ended', async () => {
    services.end('TASK_STATE_COMPLETED');
    expect(await refusal(services.runs().cancelRun('r1', HERE))).toMatchObject({
      status: 409,
      message: 'the run has ended: it is completed',
    });
  });

  it('tells what a run ended as that ended while it was being canceled', async () => {
    services.onCancel = () => {
      services.end('TASK_STATE_FAILED');
      throw new A2AError('TASK_NOT_CANCELABLE');
    };
    expect((await refusal(services.runs().cancelRun('r1', HERE))).message).toBe('the run has ended: it is failed');
  });
});
