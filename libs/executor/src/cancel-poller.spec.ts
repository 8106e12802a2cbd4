import type { AgentCatalog } from '#libs/agents';
import type { ServiceAddress } from '#libs/http-server';
import type { Jobs } from '#libs/job-queue';
import type { JobContext } from '#libs/jobs';
import { A2AError, type TaskState } from '#libs/protocol';
import type { TaskStore } from '#libs/tasks';
import { ChildEndings } from './cancel-poller.js';
import type { ExecutionRegistry } from './execution-registry.js';

/** Fake of a Task that has ended, with child Tasks. */
class EndedTask {
  readonly children = new Map<string, TaskState>();
  /** Ids of the children whose cancel was started. */
  readonly canceled: string[] = [];
  /** Ends a canceled child. A test may delay it. */
  end: (taskId: string) => Promise<void> = async () => undefined;
  endChildren: () => Promise<void> = async () => undefined;

  constructor(children: number) {
    for (let child = 0; child < children; child += 1) this.children.set(`child-${child}`, 'TASK_STATE_WORKING');
    const header = (taskId: string, state: TaskState) => ({ taskId, state, tenant: '', owner: '', agent: 'a' });
    const store = {
      readHeader: async (taskId: string) => header(taskId, 'TASK_STATE_FAILED'),
      listChildren: async () => [...this.children].map(([taskId, state]) => header(taskId, state)),
      readEvents: async () => [],
    };
    const registry = {
      cancelAndWait: (_agent: object, taskId: string, _call: object, gone?: AbortSignal) => this.cancel(taskId, gone),
    };
    const jobs = {
      registerHandler: (_name: string, { run }: { run(payload: object, context: JobContext): Promise<void> }) => {
        const { signal } = new AbortController();
        this.endChildren = () => run({ taskId: 't' }, { signal, attempt: 1, last: false });
      },
    };
    const catalog = { inTenant: () => ({ resolveAgent: async () => ({}) }) };
    new ChildEndings(
      store as unknown as TaskStore,
      registry as unknown as ExecutionRegistry,
      catalog as unknown as AgentCatalog,
      { internalUrl: 'http://here' } as ServiceAddress,
      jobs as unknown as Jobs,
    );
  }

  private async cancel(taskId: string, gone?: AbortSignal): Promise<void> {
    this.canceled.push(taskId);
    const left = Promise.withResolvers<never>();
    if (gone?.aborted) left.reject(gone.reason);
    gone?.addEventListener('abort', () => left.reject(gone.reason));
    await Promise.race([left.promise, this.end(taskId)]);
    this.children.set(taskId, 'TASK_STATE_CANCELED');
  }
}

describe('the children of a Task that has ended', () => {
  it('are all canceled in one attempt, which waits for none that takes long', async () => {
    const task = new EndedTask(40);
    task.end = () => new Promise(() => undefined);
    await expect(task.endChildren()).rejects.toThrow('Children of task t are still at work: 40');
    expect(new Set(task.canceled)).toEqual(new Set(task.children.keys()));
  });

  it('are canceled again until they have ended, and only those that have not', async () => {
    const task = new EndedTask(3);
    task.end = (taskId) => (taskId === 'child-1' ? new Promise(() => undefined) : Promise.resolve());
    await expect(task.endChildren()).rejects.toThrow('at work: 1');
    task.canceled.length = 0;
    task.end = async () => undefined;
    await task.endChildren();
    expect(task.canceled).toEqual(['child-1']);
  });

  it('may end by themselves while they are canceled', async () => {
    const task = new EndedTask(1);
    task.end = () => Promise.reject(new A2AError('TASK_NOT_CANCELABLE'));
    await expect(task.endChildren()).resolves.toBeUndefined();
  });
});
