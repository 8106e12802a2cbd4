import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { JsonObject, Message, StreamResponse, Task, TaskState } from '#libs/protocol';
import type { FakeStep } from './fake-behaviour.js';

const TERMINAL = ['TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED'];
const WAITING = ['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED'];

/** Task of a fake agent. It goes through its steps even if no caller follows it. */
export class FakeTask {
  readonly task: Task;
  private readonly changes = new EventEmitter();
  private readonly log: StreamResponse[] = [];
  private released = false;

  constructor(first: Message) {
    this.changes.setMaxListeners(0);
    const id = randomUUID();
    const contextId = first.contextId ?? randomUUID();
    this.task = {
      id,
      contextId,
      status: { state: 'TASK_STATE_SUBMITTED', timestamp: new Date().toISOString() },
      history: [{ ...first, taskId: id, contextId }],
    };
    this.emit({ task: structuredClone(this.task) });
  }

  get terminal(): boolean {
    return TERMINAL.includes(this.task.status.state);
  }

  /** True if a caller that waits for an answer can get one. */
  get settled(): boolean {
    return this.terminal || WAITING.includes(this.task.status.state);
  }

  /** Number of events so far. */
  get length(): number {
    return this.log.length;
  }

  receive(message: Message): void {
    this.task.history?.push(message);
    this.status('TASK_STATE_WORKING');
  }

  /**
   * Goes through the steps to the end, or until the Task ends otherwise. `cut` is called at a step that breaks the
   * connection.
   */
  async play(
    steps: readonly FakeStep[],
    cut: (after: true | { code: number; message: string }) => void,
  ): Promise<void> {
    for (const step of steps) {
      if (this.terminal) return;
      if ('sleep' in step) await Promise.race([delay(step.sleep), this.ended()]);
      else if ('hold' in step) await this.held();
      else if ('cut' in step) cut(step.cut);
      else if ('status' in step) this.status(step.status, step.text, step);
      else this.artifact(step);
    }
  }

  /** Ends the hold that the Task is in, or else its next hold. */
  release(): void {
    this.released = true;
    this.changes.emit('release');
  }

  /** Cancels the Task. @returns true if it could be canceled */
  cancel(): boolean {
    if (this.terminal) return false;
    this.status('TASK_STATE_CANCELED');
    return true;
  }

  /** Yields the events from an index on, until the Task ends or waits. */
  async *follow(from: number): AsyncIterable<StreamResponse> {
    for (let index = from; ; index += 1) {
      while (index >= this.log.length) {
        if (this.settled) return;
        await once(this.changes, 'event');
      }
      yield this.log[index] as StreamResponse;
    }
  }

  async untilSettled(): Promise<Task> {
    while (!this.settled) await once(this.changes, 'event');
    return this.task;
  }

  private async held(): Promise<void> {
    if (!this.released) await Promise.race([once(this.changes, 'release'), this.ended()]);
    this.released = false;
  }

  private async ended(): Promise<void> {
    while (!this.terminal) await once(this.changes, 'event');
  }

  private status(state: TaskState, text?: string, more: { metadata?: JsonObject; ofMessage?: JsonObject } = {}): void {
    if (this.terminal) return;
    const { id: taskId, contextId } = this.task;
    const words: Message | undefined =
      text === undefined
        ? undefined
        : {
            messageId: randomUUID(),
            taskId,
            contextId,
            role: 'ROLE_AGENT',
            parts: [{ text }],
            ...(more.ofMessage && { metadata: more.ofMessage }),
          };
    if (words !== undefined) this.task.history?.push(words);
    this.task.status = { state, timestamp: new Date().toISOString(), ...(words !== undefined && { message: words }) };
    this.emit({
      statusUpdate: { taskId, contextId, status: this.task.status, ...(more.metadata && { metadata: more.metadata }) },
    });
  }

  private artifact(step: Extract<FakeStep, { artifact: unknown }>): void {
    if (this.terminal) return;
    const artifact = { ...step.artifact, artifactId: step.artifact.artifactId ?? randomUUID() };
    const artifacts = (this.task.artifacts ??= []);
    const known = artifacts.find(({ artifactId }) => artifactId === artifact.artifactId);
    if (known === undefined) artifacts.push(structuredClone(artifact));
    else known.parts = step.append ? [...known.parts, ...artifact.parts] : artifact.parts;
    const { id: taskId, contextId } = this.task;
    this.emit({
      artifactUpdate: {
        taskId,
        contextId,
        artifact,
        ...(step.append !== undefined && { append: step.append }),
        ...(step.lastChunk !== undefined && { lastChunk: step.lastChunk }),
      },
    });
  }

  private emit(event: StreamResponse): void {
    this.log.push(structuredClone(event));
    this.changes.emit('event');
  }
}
