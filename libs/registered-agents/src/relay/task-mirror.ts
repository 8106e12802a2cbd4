import { createHash, hash } from 'node:crypto';
import {
  type Artifact,
  canonicalJson,
  isActiveState,
  isTerminalState,
  type JsonObject,
  type JsonValue,
  keptFileOf,
  type Message,
  type Part,
  type StreamResponse,
  type Task,
  type TaskReference,
  type TaskState,
  type TaskStatus,
  timestampNow,
  withoutKeptFile,
} from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';

/** Digests of an Artifact that was emitted: one of its Parts, one of all its other members. */
interface EmittedArtifact {
  shape: string;
  parts: string[];
}

/**
 * Copy of a remote agent's Task, as a Task of this service. Converts the agent's responses to the events that this
 * service's log still lacks.
 * - An event of the agent's stream becomes the same event, with the ids of this service's Task.
 * - A snapshot (`task`) becomes the difference to what was emitted: new Messages of the agent, the rest of Artifacts,
 *   and the status. An Artifact that does not continue the emitted one replaces it.
 * - The memory for an Artifact does not depend on the size of its Parts.
 */
export class TaskMirror {
  private readonly artifacts = new Map<string, EmittedArtifact>();
  private readonly messages = new Set<string>();
  /** Digests of metadata members in events of the log, by name. Some agents repeat these members in their Task. */
  private readonly metadata = new Map<string, string>();
  /** Metadata of the agent's Task that the log lacks; the next status event has it. */
  private unsaid: JsonObject | undefined;
  private status: { state: TaskState; messageId?: string | undefined } | undefined;
  /**
   * True if the turn began with a follow-up Message, for which this service has logged a WORKING status itself. If the
   * agent then begins the turn with a WORKING status without a Message, that status is skipped (`isSkipped`).
   */
  private isWorkingLogged = false;
  /** Number of the agent's statuses with an active state that were emitted in this turn. */
  private emittedInTurn = 0;

  /**
   * @param reference ids of this service's Task
   * @param log log of this service's Task so far
   */
  constructor(
    private readonly reference: TaskReference,
    log: readonly TaskEvent[],
  ) {
    for (const event of log) this.noteLogged(event);
  }

  /**
   * Returns the events that the log lacks after a response of the agent, in order.
   * - A direct Message gives none.
   * - A Message of a Task that works becomes a WORKING status with it: some agents send their words in this way.
   */
  toEvents(response: StreamResponse): TaskEvent[] {
    if ('task' in response) return this.fromSnapshot(response.task);
    if ('message' in response) return this.fromMessage(response.message);
    if ('artifactUpdate' in response) {
      const { artifactUpdate } = response;
      this.noteArtifact(artifactUpdate.artifact, artifactUpdate.append);
      this.noteMetadata(artifactUpdate.metadata);
      return [{ artifactUpdate: { ...artifactUpdate, ...this.ids } }];
    }
    const { status, metadata } = response.statusUpdate;
    if (this.isSkipped(status) && metadata === undefined) {
      this.noteStatus(status);
      return [];
    }
    return status.state === 'TASK_STATE_SUBMITTED' ? [] : [this.toStatusEvent(status, metadata)];
  }

  /**
   * Returns the event of a status, with the metadata of the agent's Task that the log lacks.
   * @param ofEvent metadata of the agent's own event, if any
   */
  toStatusEvent({ state, message }: TaskStatus, ofEvent?: Task['metadata']): TaskEvent {
    this.noteStatus({ state, ...(message && { message }) });
    const metadata = this.takeMetadata(ofEvent);
    const timestamp = timestampNow();
    const status = { state, ...(message && { message: this.toOwnMessage(message) }), timestamp };
    return { statusUpdate: { ...this.ids, status, ...(metadata && { metadata }) } };
  }

  /**
   * Returns the event that ends the Task with a direct Message of the agent. The Message in the event has no `taskId`,
   * like the Message of the agent.
   */
  toReplyEvent({ taskId: _taskId, ...reply }: Message): TaskEvent {
    const message = { ...withoutReferences(reply), contextId: this.reference.contextId };
    return {
      statusUpdate: { ...this.ids, status: { state: 'TASK_STATE_COMPLETED', message, timestamp: timestampNow() } },
    };
  }

  /** True if the agent's Task has ended. */
  get hasEnded(): boolean {
    return this.status !== undefined && isTerminalState(this.status.state);
  }

  private get ids(): TaskReference {
    const { taskId, contextId } = this.reference;
    return { taskId, contextId };
  }

  private fromMessage(message: Message): TaskEvent[] {
    const isOfTask = this.emittedInTurn > 0 && !this.hasEnded && message.parts.length > 0;
    return isOfTask ? [this.toStatusEvent({ state: 'TASK_STATE_WORKING', message })] : [];
  }

  private fromSnapshot({ status, artifacts = [], history = [], metadata = {} }: Task): TaskEvent[] {
    this.noteTaskMetadata(metadata);
    const events: TaskEvent[] = [];
    for (const message of history) {
      const isNew = message.role === 'ROLE_AGENT' && !this.messages.has(message.messageId);
      if (isNew && message.messageId !== status.message?.messageId)
        events.push(this.toStatusEvent({ state: 'TASK_STATE_WORKING', message }));
    }
    const rest = artifacts.flatMap((artifact) => this.restOfArtifact(artifact));
    const isEmitted = this.hasEmitted(status) || this.isSkipped(status);
    if (isEmitted) this.noteStatus(status);
    const last = isEmitted ? [] : [this.toStatusEvent(status)];
    // A Task that works has begun to work before it made Artifacts, and makes none after its end.
    return isActiveState(status.state) ? [...events, ...last, ...rest] : [...events, ...rest, ...last];
  }

  private restOfArtifact(artifact: Artifact): TaskEvent[] {
    const emitted = this.artifacts.get(artifact.artifactId);
    const { shape, parts } = imageOf(artifact);
    const isContinued =
      emitted?.shape === shape &&
      emitted.parts.length > 0 &&
      emitted.parts.every((digest, index) => digest === parts[index]);
    if (isContinued && emitted.parts.length === parts.length) return [];
    this.artifacts.set(artifact.artifactId, { shape, parts });
    const update = isContinued
      ? { artifact: { ...artifact, parts: artifact.parts.slice(emitted.parts.length) }, append: true }
      : { artifact };
    return [{ artifactUpdate: { ...this.ids, ...update } }];
  }

  /** Notes the members of the metadata of the agent's Task that the log lacks. */
  private noteTaskMetadata(metadata: JsonObject): void {
    for (const [name, value] of Object.entries(metadata)) {
      if (this.metadata.get(name) !== digestJson({ value })) this.unsaid = { ...this.unsaid, [name]: value };
    }
  }

  /**
   * Returns the metadata for the next status event: the event's own metadata, and the metadata of the agent's Task that
   * the log lacks.
   */
  private takeMetadata(ofEvent: JsonObject | undefined): JsonObject | undefined {
    const metadata = this.unsaid ? { ...this.unsaid, ...ofEvent } : ofEvent;
    this.unsaid = undefined;
    this.noteMetadata(metadata);
    return metadata;
  }

  private noteMetadata(metadata: JsonObject = {}): void {
    for (const [name, value] of Object.entries(metadata)) this.metadata.set(name, digestJson({ value }));
  }

  /** True if the newest status in the log has this state and this Message. */
  private hasEmitted({ state, message }: TaskStatus): boolean {
    return this.status?.state === state && this.status.messageId === message?.messageId;
  }

  /**
   * True for a status that adds nothing to the log:
   * - SUBMITTED, since the Task here began with it
   * - WORKING without a Message, as the agent's first status in a turn that began with a follow-up Message, since this
   *   service has logged a WORKING status itself
   */
  private isSkipped({ state, message }: TaskStatus): boolean {
    if (state === 'TASK_STATE_SUBMITTED') return true;
    return state === 'TASK_STATE_WORKING' && message === undefined && this.isWorkingLogged && this.emittedInTurn === 0;
  }

  private noteLogged(event: TaskEvent): void {
    if ('artifactUpdate' in event) {
      this.noteArtifact(event.artifactUpdate.artifact, event.artifactUpdate.append);
      this.noteMetadata(event.artifactUpdate.metadata);
    }
    if (!('statusUpdate' in event)) return;
    const { status, metadata } = event.statusUpdate;
    this.noteMetadata(metadata);
    if (event.received) {
      this.isWorkingLogged = true;
      this.emittedInTurn = 0;
    } else this.noteStatus(status);
  }

  private noteStatus({ state, message }: TaskStatus): void {
    if (state === 'TASK_STATE_SUBMITTED') return;
    this.status = { state, messageId: message?.messageId };
    if (message) this.messages.add(message.messageId);
    if (isActiveState(state)) this.emittedInTurn += 1;
  }

  private noteArtifact(artifact: Artifact, append: boolean | undefined): void {
    const emitted = append ? this.artifacts.get(artifact.artifactId) : undefined;
    // The first chunk decides the shape; streams have thousands of further ones.
    if (emitted) for (const part of artifact.parts) emitted.parts.push(partDigest(part));
    else this.artifacts.set(artifact.artifactId, imageOf(artifact));
  }

  /** Returns a Message of the agent with the ids of the Task here. The ids of other Tasks of the agent are omitted. */
  private toOwnMessage(message: Message): Message {
    return { ...withoutReferences(message), ...this.ids };
  }
}

function withoutReferences({ referenceTaskIds: _ids, ...message }: Message): Message {
  return message;
}

function imageOf({ parts, ...shape }: Artifact): EmittedArtifact {
  return { shape: digestJson(withoutEmpty(shape)), parts: parts.map(partDigest) };
}

/** Returns the digest of a Part. Bytes that were moved to the file storage have the digest of the bytes themselves. */
function partDigest(part: Part): string {
  if (isText(part)) return digestText(JSON.stringify(part));
  const kept = keptFileOf(part);
  if (kept) {
    const { url: _url, ...rest } = withoutKeptFile(part);
    return digestJson({ ...withoutEmpty(rest), sha256: kept.sha256 });
  }
  const { raw, ...rest } = part;
  if (raw === undefined) return digestJson(withoutEmpty(part));
  const sha256 = createHash('sha256').update(Buffer.from(raw, 'base64')).digest('hex');
  return digestJson({ ...withoutEmpty(rest), sha256 });
}

/** Returns an object without empty metadata and extensions, which some agents write and others omit. */
function withoutEmpty(value: object): object {
  return Object.fromEntries(
    Object.entries(value).filter(([name, member]: [string, unknown]) => {
      if (name === 'extensions') return !Array.isArray(member) || member.length > 0;
      return name !== 'metadata' || Object.keys((member ?? {}) as object).length > 0;
    }),
  );
}

/** True for a Part that has only a text. The JSON of such a Part is canonical without sorting. */
function isText(part: Part): boolean {
  for (const name in part) if (name !== 'text') return false;
  return typeof part.text === 'string';
}

function digestJson(value: object): string {
  return digestText(canonicalJson(value as JsonValue));
}

function digestText(text: string): string {
  return hash('sha256', text, 'base64');
}
