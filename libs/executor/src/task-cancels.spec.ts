import type { CallContext, ServedAgent } from '#libs/agents';
import type { Task } from '#libs/protocol';
import { TaskCancels } from './task-cancels.js';

interface Work {
  /** Cancels the execution in this process. Absent if another replica executes the Task. */
  cancelExecution?: () => Promise<Task>;
}

/** Task that never ends, which a caller cancels. */
class EndlessTask {
  readonly steps: string[] = [];
  readonly client = new AbortController();
  private readonly waits = Promise.withResolvers<void>();

  /** Resolves when a caller waits for the Task to end. */
  readonly waited = this.waits.promise;

  cancel(work: Work): Promise<Task> {
    const store = {
      requestCancel: async () => void this.steps.push('stored'),
      readHeader: async () => ({ state: 'TASK_STATE_WORKING', lastSequence: 1 }),
    };
    const { steps, waits } = this;
    const feed = {
      followTask: async function* (_taskId: string, _after: number, { signal }: { signal: AbortSignal }) {
        steps.push('follows');
        const left = new Promise((resolve) => signal.addEventListener('abort', resolve));
        waits.resolve();
        if (!signal.aborted) await left;
        steps.push('follows no more');
        yield* [];
      },
    };
    const executions = {
      toCancel: async () => work as never,
      announceCancel: () => void this.steps.push('announced'),
      stopping: new AbortController().signal,
    };
    const elsewhere = { ...executions, toCancel: async () => undefined };
    const cancels = new TaskCancels(store as never, feed as never, work.cancelExecution ? executions : elsewhere);
    return cancels.cancelAndWait({} as ServedAgent, 't', {} as CallContext, this.client.signal);
  }

  /** Returns an execution of the Task in this process. */
  executed(): Work {
    const cancel = (): Promise<Task> => {
      this.steps.push('canceled');
      this.waits.resolve();
      return new Promise<Task>(() => undefined);
    };
    return { cancelExecution: cancel };
  }
}

const LEFT = new Error('The client left');

describe('a cancel whose caller leaves', () => {
  it('follows the Task at another replica no longer', async () => {
    const task = new EndlessTask();
    const canceled = task.cancel({});
    await task.waited;
    task.client.abort(LEFT);
    await expect(canceled).rejects.toBe(LEFT);
    expect(task.steps).toEqual(['stored', 'announced', 'follows', 'follows no more']);
  });

  it('waits no longer for an execution of this process, which is canceled nevertheless', async () => {
    const task = new EndlessTask();
    const canceled = task.cancel(task.executed());
    await task.waited;
    task.client.abort(LEFT);
    await expect(canceled).rejects.toBe(LEFT);
    expect(task.steps).toEqual(['stored', 'canceled']);
  });

  it('is stored and begun also for a caller that has left before', async () => {
    const [task, elsewhere] = [new EndlessTask(), new EndlessTask()];
    for (const { client } of [task, elsewhere]) client.abort(LEFT);
    await expect(task.cancel(task.executed())).rejects.toBe(LEFT);
    expect(task.steps).toEqual(['stored', 'canceled']);
    await expect(elsewhere.cancel({})).rejects.toBe(LEFT);
    expect(elsewhere.steps.slice(0, 2)).toEqual(['stored', 'announced']);
  });
});
