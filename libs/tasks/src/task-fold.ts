import {
  type Artifact,
  isTerminalState,
  isWaitingState,
  type Message,
  type Task,
  type TaskArtifactUpdateEvent,
  type TaskState,
  type TaskStatusUpdateEvent,
} from '#libs/protocol';
import type { TaskEvent } from './task-event.js';

/** Error for an event that the Task's state does not allow. The Task is unchanged. */
export class TaskEventRefused extends Error {
  override readonly name = 'TaskEventRefused';
}

/**
 * State of a Task while its log is read or written: the only place that applies events to a Task. The cost of applying
 * an event does not depend on the length of the log.
 *
 * - The first event is the Task itself, in state SUBMITTED, and there is only one such event.
 * - A terminal state is final.
 * - A waiting Task accepts a Message, or a status that ends the wait; no Artifact before that.
 * - Status Messages and received Messages are added to the history in order.
 * - An Artifact replaces the one with its id; with `append` its Parts are added to it (section 4.2.2).
 */
export class TaskFold {
  private readonly artifacts = new Map<string, Artifact>();
  private readonly history: Message[];
  private status: Task['status'];

  private constructor(private readonly start: Task) {
    this.status = start.status;
    this.history = [...(start.history ?? [])];
    for (const artifact of start.artifacts ?? []) {
      this.artifacts.set(artifact.artifactId, { ...artifact, parts: [...artifact.parts] });
    }
  }

  /** @throws TaskEventRefused if the event cannot be the first of a Task */
  static beginTask(event: TaskEvent): TaskFold {
    if (!('task' in event)) throw new TaskEventRefused('The first event of a task is the task itself');
    if (event.task.status.state !== 'TASK_STATE_SUBMITTED') {
      throw new TaskEventRefused(`A task begins as TASK_STATE_SUBMITTED, not as ${event.task.status.state}`);
    }
    return new TaskFold(event.task);
  }

  /** Continues from a Task that was folded before. */
  static fromTask(task: Task): TaskFold {
    return new TaskFold(task);
  }

  get state(): TaskState {
    return this.status.state;
  }

  /** Applies an event. @throws TaskEventRefused; the Task is unchanged then */
  applyEvent(event: TaskEvent): void {
    if ('task' in event) throw new TaskEventRefused('A task begins only once');
    if (isTerminalState(this.state)) throw new TaskEventRefused(`The task has ended: ${this.state}`);
    if ('artifactUpdate' in event) this.applyArtifact(event.artifactUpdate);
    else this.applyStatus(event.statusUpdate, event.received);
  }

  /** Returns the current Task, which later events do not change. */
  toTask(): Task {
    const artifacts = [...this.artifacts.values()].map((artifact) => ({ ...artifact, parts: [...artifact.parts] }));
    return {
      id: this.start.id,
      contextId: this.start.contextId,
      status: this.status,
      ...(artifacts.length > 0 && { artifacts }),
      ...(this.history.length > 0 && { history: [...this.history] }),
      ...(this.start.metadata && { metadata: this.start.metadata }),
    };
  }

  private applyStatus(update: TaskStatusUpdateEvent, received: Message | undefined): void {
    this.checkReference(update);
    const next = update.status.state;
    if (next === 'TASK_STATE_SUBMITTED') throw new TaskEventRefused('A task is submitted only once');
    if (received && !isWaitingState(this.state)) throw new TaskEventRefused('Only a waiting task receives a message');
    if (received) this.history.push(received);
    if (update.status.message) this.history.push(update.status.message);
    this.status = update.status;
  }

  private applyArtifact(update: TaskArtifactUpdateEvent): void {
    this.checkReference(update);
    if (isWaitingState(this.state)) throw new TaskEventRefused('A waiting task makes no artifact');
    const { artifact } = update;
    const known = update.append ? this.artifacts.get(artifact.artifactId) : undefined;
    if (known) known.parts.push(...artifact.parts);
    else this.artifacts.set(artifact.artifactId, { ...artifact, parts: [...artifact.parts] });
  }

  private checkReference(event: { taskId: string; contextId: string }): void {
    if (event.taskId !== this.start.id || event.contextId !== this.start.contextId) {
      throw new TaskEventRefused('The event belongs to another task or context');
    }
  }
}

/** Returns the Task after an event; pure. @throws TaskEventRefused */
export function applyTaskEvent(task: Task | undefined, event: TaskEvent): Task {
  if (!task) return TaskFold.beginTask(event).toTask();
  const fold = TaskFold.fromTask(task);
  fold.applyEvent(event);
  return fold.toTask();
}
