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

/** Current answer of a called agent. Accepts the events of any agent, in any order. */
export class CalledTask {
  taskId: string | undefined;
  contextId: string | undefined;
  status: TaskStatus | undefined;
  private held = new Map<string, Artifact>();
  history: readonly Message[] = [];
  /** Direct Message, if the agent created no Task. */
  reply: Message | undefined;

  get artifacts(): Artifact[] {
    return [...this.held.values()];
  }

  get state(): TaskState | undefined {
    return this.status?.state;
  }

  /** True if there is a Task that has neither ended nor waits. */
  get active(): boolean {
    return this.taskId !== undefined && (this.state === undefined || isActiveState(this.state));
  }

  /** Applies a response and returns the step that it reports, if any. */
  applyResponse(response: StreamResponse): RunEventNote | undefined {
    if ('message' in response) this.reply = response.message;
    else if ('task' in response) this.takeTask(response.task);
    else if ('artifactUpdate' in response) this.takeArtifact(response.artifactUpdate);
    else {
      const { taskId, contextId, status, metadata } = response.statusUpdate;
      this.adoptIds(taskId, contextId);
      this.status = status;
      return runEventNote(metadata);
    }
    return undefined;
  }

  private takeTask(task: Task): void {
    this.adoptIds(task.id, task.contextId);
    this.status = task.status;
    this.held = heldArtifacts(task.artifacts);
    this.history = task.history ?? [];
  }

  /** Adds an Artifact or chunk at constant cost, however many chunks came before. */
  private takeArtifact({ taskId, contextId, artifact, append }: TaskArtifactUpdateEvent): void {
    this.adoptIds(taskId, contextId);
    const before = append ? this.held.get(artifact.artifactId) : undefined;
    if (before) addChunk(before, artifact);
    else this.held.set(artifact.artifactId, ownCopy(artifact));
  }

  private adoptIds(taskId: string, contextId: string): void {
    this.taskId ??= taskId;
    this.contextId ??= contextId;
  }
}

function heldArtifacts(artifacts: readonly Artifact[] = []): Map<string, Artifact> {
  return new Map(artifacts.map((artifact) => [artifact.artifactId, ownCopy(artifact)]));
}

/** Appends the Parts of a later chunk to an Artifact and merges its other members; later values win. */
function addChunk(before: Artifact, { parts, artifactId: _id, metadata, ...said }: Artifact): void {
  before.parts.push(...parts);
  Object.assign(before, said, metadata && { metadata: { ...before.metadata, ...metadata } });
}

/** Copies an Artifact to which chunks will be added. */
function ownCopy(artifact: Artifact): Artifact {
  return { ...artifact, parts: [...artifact.parts] };
}
