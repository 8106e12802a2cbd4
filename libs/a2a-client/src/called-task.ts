import {
  type Artifact,
  isActiveState,
  type Message,
  type RunEventNote,
  runEventNote,
  type StreamResponse,
  type Task,
  type TaskArtifactUpdateEvent,
  type TaskState,
  type TaskStatus,
} from '#libs/protocol';

/** What a called agent has answered so far. Takes the events of any remote, also out of the order that we would keep. */
export class CalledTask {
  taskId: string | undefined;
  contextId: string | undefined;
  status: TaskStatus | undefined;
  private held = new Map<string, Artifact>();
  history: readonly Message[] = [];
  /** The direct Message, where the agent made no Task. */
  reply: Message | undefined;

  get artifacts(): Artifact[] {
    return [...this.held.values()];
  }

  get state(): TaskState | undefined {
    return this.status?.state;
  }

  /** Whether a Task was made that neither ended nor waits. */
  get active(): boolean {
    return this.taskId !== undefined && (this.state === undefined || isActiveState(this.state));
  }

  /** Takes in a response and gives the step that it tells of, if any. */
  apply(response: StreamResponse): RunEventNote | undefined {
    if ('message' in response) this.reply = response.message;
    else if ('task' in response) this.takeTask(response.task);
    else if ('artifactUpdate' in response) this.takeArtifact(response.artifactUpdate);
    else {
      const { taskId, contextId, status, metadata } = response.statusUpdate;
      this.identify(taskId, contextId);
      this.status = status;
      return runEventNote(metadata);
    }
    return undefined;
  }

  private takeTask(task: Task): void {
    this.identify(task.id, task.contextId);
    this.status = task.status;
    this.held = heldArtifacts(task.artifacts);
    this.history = task.history ?? [];
  }

  /** Costs the same however many chunks came before. */
  private takeArtifact({ taskId, contextId, artifact, append }: TaskArtifactUpdateEvent): void {
    this.identify(taskId, contextId);
    const before = append ? this.held.get(artifact.artifactId) : undefined;
    if (before) addChunk(before, artifact);
    else this.held.set(artifact.artifactId, ownCopy(artifact));
  }

  private identify(taskId: string, contextId: string): void {
    this.taskId ??= taskId;
    this.contextId ??= contextId;
  }
}

function heldArtifacts(artifacts: readonly Artifact[] = []): Map<string, Artifact> {
  return new Map(artifacts.map((artifact) => [artifact.artifactId, ownCopy(artifact)]));
}

/** Joins the members of a later chunk, besides its Parts, to those of the Artifact; the later value counts. */
function addChunk(before: Artifact, { parts, artifactId: _id, metadata, ...said }: Artifact): void {
  before.parts.push(...parts);
  Object.assign(before, said, metadata && { metadata: { ...before.metadata, ...metadata } });
}

/** Chunks are added to it. */
function ownCopy(artifact: Artifact): Artifact {
  return { ...artifact, parts: [...artifact.parts] };
}
