import { randomUUID } from 'node:crypto';
import type { CallContext, RequestContext, ServedAgent } from '#libs/agents';
import type { Execution } from '#libs/executor';
import {
  A2AError,
  isActiveState,
  type SendMessageRequest,
  statusUpdate,
  submittedTask,
  type Task,
} from '#libs/protocol';
import type { StoredTask, TaskEvent, TaskFeed } from '#libs/tasks';
import { type MemoryTaskStore, taskHeader } from './memory-task-store.js';

/** Executes agents against a MemoryTaskStore, in place of ExecutionRegistry. */
export class FakeExecutions {
  /** Error with which `settled` of every execution rejects although the work continues; `undefined`: none. */
  interruptWith: Error | undefined;
  readonly files = { keepFiles: async (request: SendMessageRequest): Promise<SendMessageRequest> => request };

  /** Tasks that `findExecution` reports as executed by this process. */
  readonly underWay = new Map<string, StoredTask>();

  constructor(
    private readonly store: MemoryTaskStore,
    private readonly feed: TaskFeed,
  ) {}

  findExecution(taskId: string): { standing: StoredTask | undefined } {
    return { standing: this.underWay.get(taskId) };
  }

  beginExecution(agent: ServedAgent, request: SendMessageRequest, call: CallContext): Execution {
    const taskId = call.newTaskId?.() ?? randomUUID();
    const contextId = request.message.contextId ?? randomUUID();
    const reference = { taskId, contextId };
    const header = taskHeader({ taskId, contextId, agent: agent.path, ...call.scope });
    const recorded = this.store.append(taskId, { task: submittedTask(reference, request.message) }, header);
    this.feed.publishEvents([recorded]);
    return this.run(agent, reference, request, call, null);
  }

  async resumeExecution(
    agent: ServedAgent,
    taskId: string,
    request: SendMessageRequest,
    call: CallContext,
  ): Promise<Execution> {
    const stored = await this.store.loadTask(taskId);
    if (!stored) throw new A2AError('TASK_NOT_FOUND');
    if (isActiveState(stored.header.state)) throw new A2AError('UNSUPPORTED_OPERATION');
    const reference = { taskId, contextId: stored.header.contextId };
    const message = { ...request.message, ...reference };
    this.record(taskId, { ...statusUpdate(reference, 'TASK_STATE_WORKING'), received: message });
    return this.run(agent, reference, request, call, stored.task);
  }

  async cancelAndWait(_agent: ServedAgent, taskId: string, _call: CallContext, _gone?: AbortSignal): Promise<Task> {
    const stored = await this.store.loadTask(taskId);
    if (!stored) throw new A2AError('TASK_NOT_FOUND');
    this.record(taskId, statusUpdate({ taskId, contextId: stored.header.contextId }, 'TASK_STATE_CANCELED'));
    return this.task(taskId);
  }

  private run(
    agent: ServedAgent,
    reference: { taskId: string; contextId: string },
    request: SendMessageRequest,
    call: CallContext,
    task: Task | null,
  ): Execution {
    const { task: begun, header } = this.store.held(reference.taskId);
    const begunAs = { task: begun, sequence: header.lastSequence };
    const context: RequestContext = {
      ...reference,
      token: 'token',
      userMessage: request.message,
      task,
      call,
      metadata: request.metadata,
      signal: new AbortController().signal,
      recovered: 0,
      readTaskLog: async () => [],
      assertRecordable: () => undefined,
      flush: async () => undefined,
      assertClaimHeld: async () => undefined,
    };
    const done = this.work(agent, context);
    const interrupted = this.interruptWith;
    const settled = interrupted ? done.then(() => Promise.reject(interrupted)) : done;
    settled.catch(() => undefined);
    return { ...reference, begunAs, accepted: Promise.resolve(begunAs), live: undefined, settled };
  }

  private async work(agent: ServedAgent, context: RequestContext): Promise<Task> {
    await new Promise<void>((resolve) => setImmediate(resolve));
    try {
      for await (const event of agent.executor.execute(context)) this.record(context.taskId, event);
    } catch {
      this.record(context.taskId, statusUpdate(context, 'TASK_STATE_FAILED', 'The agent failed.'));
    }
    return this.task(context.taskId);
  }

  private record(taskId: string, event: TaskEvent): void {
    this.feed.publishEvents([this.store.append(taskId, event)]);
  }

  private task(taskId: string): Task {
    return this.store.held(taskId).task;
  }
}
