import { isTerminalState, type Task } from '#libs/protocol';
import type { LogReference } from './log-phrases.js';
import type { TaskEvent } from './task-event.js';

/** A Task of more is written when somebody asks for it. */
const MOST_CHARACTERS = 16_000;
const TEXTS = new WeakMap<Task, string>();

/** A Task as `JSON.stringify` writes it; where the end of a recording gave it, without writing anew what its events said. */
export function taskJson(task: Task): string {
  return TEXTS.get(task) ?? JSON.stringify(task);
}

/**
 * What the events of a Task said of it as JSON, as long as each of them only added to it. It is a Task's JSON as soon as
 * that has ended, and before that nobody's.
 */
export class TaskText {
  private readonly artifacts = new Map<string, string>();
  private status: string | undefined;
  /** The members behind the Artifacts. */
  private rest: string | undefined;
  private characters = 0;

  constructor(private readonly reference: LogReference) {}

  /** @param part what EventTexts wrote of the event's own; without it nothing is known any more */
  take(event: TaskEvent, part: string | undefined): void {
    if (part === undefined || this.characters > MOST_CHARACTERS) return this.forget();
    this.characters += part.length;
    if ('task' in event) [this.status, this.rest] = ['', part];
    else if ('statusUpdate' in event) this.status = part;
    else if (event.artifactUpdate.append) this.forget();
    else this.artifacts.set(event.artifactUpdate.artifact.artifactId, part);
  }

  /** Keeps it for `taskJson`, where it is known. @param task has ended with the last event that was taken */
  keepFor(task: Task): void {
    if (this.rest === undefined || !isTerminalState(task.status.state)) return;
    const { taskId, contextId } = this.reference;
    const artifacts = this.artifacts.size > 0 ? `,"artifacts":[${[...this.artifacts.values()].join(',')}]` : '';
    TEXTS.set(task, `{"id":"${taskId}","contextId":"${contextId}","status":${this.status}${artifacts}${this.rest}}`);
  }

  private forget(): void {
    this.rest = undefined;
    this.artifacts.clear();
  }
}
