import {
  type Artifact,
  firstData,
  isActiveState,
  joinedText,
  type Part,
  type StreamResponse,
  type TaskArtifactUpdateEvent,
  type TaskState,
  type TaskStatus,
} from '#libs/protocol';

/** The ids under which a remote agent goes on with a conversation. */
export interface RemoteTask {
  taskId: string;
  contextId: string;
}

/** What a remote agent has answered so far, put together from its events. A snapshot stands for all before it. */
export class RemoteAnswer {
  task: RemoteTask | undefined;
  status: TaskStatus | undefined;
  #artifacts = new Map<string, Artifact>();
  #message: Part[] | undefined;

  apply(event: StreamResponse): void {
    if ('message' in event) {
      this.#message = event.message.parts;
    } else if ('task' in event) {
      this.task = { taskId: event.task.id, contextId: event.task.contextId };
      this.status = event.task.status;
      this.#artifacts = new Map((event.task.artifacts ?? []).map((it) => [it.artifactId, ownCopy(it)]));
    } else if ('statusUpdate' in event) {
      this.task ??= { taskId: event.statusUpdate.taskId, contextId: event.statusUpdate.contextId };
      this.status = event.statusUpdate.status;
    } else {
      this.#applyArtifact(event.artifactUpdate);
    }
  }

  /** COMPLETED for a direct Message; `undefined` while the remote is at work. */
  get outcome(): TaskState | undefined {
    if (this.#message) return 'TASK_STATE_COMPLETED';
    const state = this.status?.state;
    return state === undefined || isActiveState(state) ? undefined : state;
  }

  /**
   * Row E5: the text of the first Artifact, else its data as JSON, else `no output`. An agent that made no Artifact has
   * answered with what it said at the end.
   */
  get output(): string {
    const [artifact] = this.#artifacts.values();
    const parts = this.#message ?? artifact?.parts ?? this.status?.message?.parts ?? [];
    const text = joinedText(parts);
    if (text !== undefined) return text;
    const data = firstData(parts);
    return data === undefined ? 'no output' : JSON.stringify(data);
  }

  #applyArtifact({ artifact, append, taskId, contextId }: TaskArtifactUpdateEvent): void {
    this.task ??= { taskId, contextId };
    const known = append ? this.#artifacts.get(artifact.artifactId) : undefined;
    if (known) known.parts.push(...artifact.parts);
    else this.#artifacts.set(artifact.artifactId, ownCopy(artifact));
  }
}

/** Chunks are added to it. */
function ownCopy(artifact: Artifact): Artifact {
  return { ...artifact, parts: [...artifact.parts] };
}
