import { setTimeout as delay } from 'node:timers/promises';
import type { CallContext, ServedAgent } from '#libs/agents';
import type { SignalTopic } from '#libs/postgres';
import { A2AError, isActiveState, isTerminalState, type Task } from '#libs/protocol';
import { Backoff, unlessAborted } from '#libs/service';
import type { TaskFeed, TaskStore } from '#libs/tasks';
import type { TaskExecution } from './task-execution.js';

/**
 * Signal between replicas that a cancel request was stored. Every replica with executions then checks whether the
 * request is for one of its Tasks.
 */
export const CANCEL_REQUESTED: SignalTopic = { name: 'cancel_requested', shards: 1 };

const BACKOFF = new Backoff(20, 1_000);
/**
 * Maximum milliseconds that this replica waits until another replica has handled the cancel. After that time, it
 * checks again whether any replica executes the Task.
 */
const LOOK_AGAIN_MS = 2_000;

/** Part of ExecutionRegistry that cancels Tasks. */
interface CancelableExecutions {
  /**
   * Returns the execution of a Task in this process. If no replica executes the Task, starts an execution that only
   * cancels it. `undefined` if another replica executes the Task, or the Task has ended.
   */
  toCancel(agent: ServedAgent, taskId: string, call: CallContext): Promise<TaskExecution | undefined>;
  /** Signals other replicas that a cancel request was stored. */
  announceCancel(): void;
  /** Signal that aborts when this process stops executing Tasks. */
  readonly stopping: AbortSignal;
}

/** Cancels Tasks, even if another replica executes them. */
export class TaskCancels {
  constructor(
    private readonly store: TaskStore,
    private readonly feed: TaskFeed,
    private readonly executions: CancelableExecutions,
  ) {}

  /**
   * Cancels a Task, as `ExecutionRegistry.cancelAndWait` describes.
   * @param gone signal that aborts when the caller disconnects; the cancel is stored and started in any case
   */
  async cancelAndWait(agent: ServedAgent, taskId: string, call: CallContext, gone?: AbortSignal): Promise<Task> {
    await this.store.requestCancel(taskId);
    const { stopping } = this.executions;
    const over = gone ? AbortSignal.any([stopping, gone]) : stopping;
    for (let attempts = 0; ; attempts += 1) {
      const task = await this.attemptCancel(agent, taskId, call, gone);
      if (task?.status.state === 'TASK_STATE_CANCELED') return task;
      if (task && isTerminalState(task.status.state)) throw notCancelable(task);
      // The Task waited or was parked before it saw the cancel, or another replica adopts it: that replica may execute
      // it, or none may.
      await delay(BACKOFF.pauseAfter(attempts), undefined, { signal: over }).catch(() => undefined);
      if (stopping.aborted) throw new A2AError('INTERNAL', { message: 'The service is shutting down', status: 503 });
      gone?.throwIfAborted();
    }
  }

  /**
   * Makes one attempt to cancel a Task, and returns the Task after it. Returns `undefined` if this process has lost the
   * Task to another replica in the meantime, or no replica has handled the cancel in time.
   */
  private async attemptCancel(
    agent: ServedAgent,
    taskId: string,
    call: CallContext,
    gone: AbortSignal | undefined,
  ): Promise<Task | undefined> {
    const execution = await this.executions.toCancel(agent, taskId, call);
    if (!execution) return this.settledElsewhere(taskId, gone);
    try {
      return await unlessAborted(execution.cancelExecution(), gone);
    } catch (error) {
      if (!execution.failure && !execution.isParked) throw error;
      return undefined;
    }
  }

  /**
   * Waits for the replica that executes or takes over the Task to handle the cancel, and returns the Task. Returns
   * `undefined` on timeout: that replica may have parked the Task (released it until a time) before it saw the cancel,
   * so that no replica executes the Task now.
   */
  private async settledElsewhere(taskId: string, gone: AbortSignal | undefined): Promise<Task | undefined> {
    this.executions.announceCancel();
    const header = await this.store.readHeader(taskId);
    if (header && isActiveState(header.state)) {
      const ends = [this.executions.stopping, AbortSignal.timeout(LOOK_AGAIN_MS), ...(gone ? [gone] : [])];
      const signal = AbortSignal.any(ends);
      const events = this.feed.followTask(taskId, header.lastSequence, { until: 'waiting', signal });
      while (!(await events.next()).done);
      if (signal.aborted) return undefined;
    }
    const stored = await this.store.loadTask(taskId);
    if (!stored) throw new A2AError('TASK_NOT_FOUND', { metadata: { taskId } });
    return stored.task;
  }
}

function notCancelable({ id: taskId, status }: Task): A2AError {
  const message = `The task has ended: ${status.state}`;
  return new A2AError('TASK_NOT_CANCELABLE', { message, metadata: { taskId } });
}
