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
  artifacts: Artifact[] = [];
  history: readonly Message[] = [];
  /** The direct Message, where the agent made no Task. */
  reply: Message | undefined;

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
    this.artifacts = task.artifacts ?? [];
    this.history = task.history ?? [];
  }

  private takeArtifact({ taskId, contextId, artifact, append }: TaskArtifactUpdateEvent): void {
    this.identify(taskId, contextId);
    const index = this.artifacts.findIndex(({ artifactId }) => artifactId === artifact.artifactId);
    const before = this.artifacts[index];
    if (before === undefined) this.artifacts = [...this.artifacts, artifact];
    else {
      const next = append ? { ...before, parts: [...before.parts, ...artifact.parts] } : artifact;
      this.artifacts = this.artifacts.with(index, next);
    }
  }

  private identify(taskId: string, contextId: string): void {
    this.taskId ??= taskId;
    this.contextId ??= contextId;
  }
}
