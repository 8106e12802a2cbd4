import {
  type Artifact,
  contentLength,
  ContentTooLarge,
  isTerminalState,
  isWaitingState,
  type Message,
  type Task,
  type TaskArtifactUpdateEvent,
  type TaskState,
  type TaskStatusUpdateEvent,
} from '#libs/protocol';
import { InFlight, type InFlightOwner } from '#libs/service';
import { promptLineOf, type RecordedEvent, type TaskEvent } from './task-event.js';

/** Error for an event that the Task's state does not allow. The Task is unchanged. */
export class TaskEventRefused extends Error {
  override readonly name = 'TaskEventRefused';
}

/**
 * State of a Task while its log is read or written: the only code that applies events to a Task. The cost of applying
 * an event does not depend on the length of the log.
 * - The first event is the Task itself, in state SUBMITTED, and there is only one such event.
 * - A terminal state is final.
 * - A waiting Task accepts a Message or a status, but no Artifact.
 * - Status Messages and received Messages are added to the history in order.
 * - An Artifact replaces the Artifact with the same id; with `append` its Parts are added to that one (section 4.2.2).
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

  /**
   * Begins the state of a Task with the first event of its log.
   * @throws TaskEventRefused if the event cannot be the first of a Task
   */
  static beginTask(event: TaskEvent): TaskFold {
    if (!('task' in event)) throw new TaskEventRefused('The first event of a task is the task itself');
    if (event.task.status.state !== 'TASK_STATE_SUBMITTED') {
      throw new TaskEventRefused(`A task begins as TASK_STATE_SUBMITTED, not as ${event.task.status.state}`);
    }
    return new TaskFold(event.task);
  }

  /**
   * Creates a fold that continues from a Task in its state after earlier events. Later events do not change the given
   * Task.
   */
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

/** Returns the Task after an event. The given Task does not change. @throws TaskEventRefused */
export function applyTaskEvent(task: Task | undefined, event: TaskEvent): Task {
  if (!task) return TaskFold.beginTask(event).toTask();
  const fold = TaskFold.fromTask(task);
  fold.applyEvent(event);
  return fold.toTask();
}

/** Maximum bytes of one event, of one Artifact with all its chunks, and of the log of one Task. */
export interface TaskLimits {
  readonly event: number;
  readonly artifact: number;
  readonly log: number;
}

/**
 * Maximum bytes of short events beyond the limit of a Task's log. Also the maximum bytes of the event that ends a Task
 * whose log is full.
 */
const END_ROOM = 64 * 1024;
/** Maximum bytes of a short event, which may exceed the limit of a log (see END_ROOM). */
const FEW_WORDS = 16 * 1024;
/** Share of the limit above which a log is nearly full. */
const NEARLY_FULL = 3 / 4;

/**
 * Returns the bytes that an event adds to its log: those of its JSON, plus approximately those of its received Message.
 */
export function eventBytes(event: TaskEvent, json: string): number {
  const received = 'statusUpdate' in event ? event.received : undefined;
  return received ? jsonBytes(json) + contentLength(received.parts) : jsonBytes(json);
}

/** Returns the approximate bytes of the prompt (PromptNote) that is stored beside the log with an event. */
export function promptBytes(event: TaskEvent): number {
  return promptLineOf(event)?.length ?? 0;
}

/** Bytes of one Task's log, and of each Artifact to which the current TaskRecording has added Parts. */
export class LogSize {
  private artifacts: Map<string, number> | undefined;

  /** @param bytes bytes that the log already holds */
  constructor(
    private readonly limits: TaskLimits,
    private bytes: number,
  ) {}

  /** Size of the whole log, in bytes. */
  get total(): number {
    return this.bytes;
  }

  /** True if the log has more than three quarters of the bytes that a log may have. */
  get isNearlyFull(): boolean {
    return this.bytes > this.limits.log * NEARLY_FULL;
  }

  /**
   * Checks an event of the given size in bytes.
   * @throws TaskLimitExceeded if the event exceeds the limit of an event, of the log, or of its Artifact
   */
  checkEvent(event: TaskEvent, bytes: number): void {
    const { limits } = this;
    if (bytes > limits.event) throw TaskLimitExceeded.ofEvent(limits.event);
    if (this.bytes + bytes > limits.log && !this.isLastWord(event, bytes)) throw TaskLimitExceeded.ofLog(limits.log);
    if ('artifactUpdate' in event && this.artifactAfter(event, bytes) > limits.artifact)
      throw TaskLimitExceeded.ofArtifact(limits.artifact);
  }

  /** Counts an event that was added to the log. */
  countEvent(event: TaskEvent, bytes: number): void {
    this.bytes += bytes;
    if (!('artifactUpdate' in event)) return;
    const { artifactId } = event.artifactUpdate.artifact;
    (this.artifacts ??= new Map<string, number>()).set(artifactId, this.artifactAfter(event, bytes));
  }

  private isLastWord(event: TaskEvent, bytes: number): boolean {
    if (bytes <= FEW_WORDS && this.bytes + bytes <= this.limits.log + END_ROOM) return true;
    return bytes <= END_ROOM && endsTask(event);
  }

  private artifactAfter({ artifactUpdate }: Extract<TaskEvent, { artifactUpdate: unknown }>, bytes: number): number {
    const before = artifactUpdate.append ? this.artifacts?.get(artifactUpdate.artifact.artifactId) : undefined;
    return (before ?? 0) + bytes;
  }
}

function endsTask(event: TaskEvent): boolean {
  return 'statusUpdate' in event && isTerminalState(event.statusUpdate.status.state);
}

/** Maximum length in characters of a text whose bytes are not counted exactly: each character counts as one byte. */
const SHORT = 4096;

/**
 * Error for an event, an Artifact or a log that exceeds a limit. The text names the limit and may be shown to callers.
 */
class TaskLimitExceeded extends ContentTooLarge {
  override readonly name = 'TaskLimitExceeded';

  static ofEvent(limit: number): TaskLimitExceeded {
    return new TaskLimitExceeded(`One event of a task has at most ${limit} bytes (EVENT_LIMIT); this one has more.`);
  }

  static ofArtifact(limit: number): TaskLimitExceeded {
    return new TaskLimitExceeded(`An artifact has at most ${limit} bytes (ARTIFACT_LIMIT); this one has more.`);
  }

  static ofLog(limit: number): TaskLimitExceeded {
    return new TaskLimitExceeded(
      `The log of a task has at most ${limit} bytes (TASK_LIMIT); this one would have more.`,
    );
  }
}

/**
 * Returns the bytes of a JSON text in UTF-8. For a short text it returns the number of characters as an approximation.
 */
function jsonBytes(json: string): number {
  return json.length <= SHORT ? json.length : Buffer.byteLength(json);
}

/**
 * Number of events above which a log is worth a snapshot; the events of a shorter log are applied as fast as a snapshot
 * is read.
 */
export const LONG_LOG = 64;
/** Maximum bytes of a log that gets a snapshot: a snapshot is a further copy in memory while it is written. */
export const MOST_SNAPSHOT_BYTES = 4 * 1024 * 1024;

/** Snapshot of a Task: the Task as JSON without its Artifacts, and the Artifacts as JSON. */
export interface TaskSnapshot {
  task: string;
  artifacts?: string;
}

/** Snapshot of a Task as a row of the database. */
export interface SnapshotRow {
  sequence: number;
  task: string;
  artifacts: string | null;
}

/**
 * True if a snapshot is written for a Task that has ended or waits, given the number of events and bytes of its log.
 */
export function isWorthSnapshot(events: number, bytes: number): boolean {
  return events > LONG_LOG && bytes <= MOST_SNAPSHOT_BYTES;
}

export function toSnapshot({ artifacts, ...task }: Task): TaskSnapshot {
  return { task: JSON.stringify(task), ...(artifacts && { artifacts: JSON.stringify(artifacts) }) };
}

export function snapshotBytes({ task, artifacts = '' }: TaskSnapshot): number {
  return jsonBytes(task) + jsonBytes(artifacts);
}

export function fromSnapshot({ task, artifacts }: Omit<SnapshotRow, 'sequence'>): Task {
  return {
    ...(JSON.parse(task) as Task),
    ...(artifacts !== null && { artifacts: JSON.parse(artifacts) as Artifact[] }),
  };
}

/**
 * Right shift that divides the bytes of a status update by eight. That is the estimated part that stays in memory: a
 * status update of a run is mostly metadata about a step, of which the Task keeps little.
 */
const KEPT_OF_STEPS_SHIFT = 3;
/**
 * Right shift by which the bytes that a Task keeps in memory are halved before they are counted. A run and its nodes
 * share texts: a text is counted for each of their Tasks, but exists only once in memory.
 */
const SHARED_SHIFT = 1;

/**
 * Counts the memory for the events that one TaskRecording writes (see InFlight). All bytes of an event count until it
 * is durable. Then only the bytes that the Task keeps in memory count, until this process no longer works on the Task.
 */
export class RecordedBytes {
  private notDurable = 0;
  private kept = 0;
  private released = false;
  private readonly account: string;

  constructor(
    private readonly inFlight: InFlight,
    owner: InFlightOwner,
  ) {
    this.account = InFlight.accountOf(owner);
  }

  /** Bytes of events that are not durable yet. */
  get waiting(): number {
    return this.notDurable;
  }

  addRecorded(bytes: number): void {
    this.notDurable += bytes;
    this.inFlight.addBytes(this.account, bytes);
  }

  /** Replaces the counted bytes of durable events by the bytes that the Task keeps in memory. */
  settleWritten(events: readonly RecordedEvent[]): void {
    if (this.released) return;
    let [bytes, keeping] = [0, 0];
    for (const { event, json } of events) {
      const size = eventBytes(event, json);
      bytes += size + promptBytes(event);
      keeping += keptBytes(event, size);
    }
    keeping >>= SHARED_SHIFT;
    this.notDurable -= bytes;
    this.kept += keeping;
    this.inFlight.addBytes(this.account, -bytes, keeping);
  }

  /** Releases all counted bytes. Events that are not durable yet may still become durable. */
  releaseAll(): void {
    this.released = true;
    this.inFlight.addBytes(this.account, -this.notDurable, -this.kept);
    this.notDurable = 0;
    this.kept = 0;
  }
}

/**
 * Returns approximately how many bytes of an event the Task keeps in memory: for a Task or an Artifact all bytes; for a
 * status update its Messages, and an eighth of the event (KEPT_OF_STEPS_SHIFT).
 */
function keptBytes(event: TaskEvent, bytes: number): number {
  if (!('statusUpdate' in event)) return bytes;
  const { message } = event.statusUpdate.status;
  const received = event.received ? contentLength(event.received.parts) : 0;
  const said = message ? contentLength(message.parts) : 0;
  return received + said + ((bytes - received) >> KEPT_OF_STEPS_SHIFT);
}
