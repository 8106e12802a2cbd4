import { PublicFault } from '#libs/faults';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';
import type { Message, Part } from '../message.js';
import {
  type Artifact,
  type StreamResponse,
  type Task,
  TASK_STATES,
  type TaskArtifactUpdateEvent,
  type TaskState,
  type TaskStatus,
  type TaskStatusUpdateEvent,
} from '../task.js';

/** Error for a value from the wire that is not valid in A2A 1.0. The message names only the invalid member. */
export class InvalidProtocolValue extends PublicFault {
  override readonly name = 'InvalidProtocolValue';

  override get kind(): 'invalid' {
    return 'invalid';
  }
}

/**
 * Reads an item or an answer (StreamResponse) from ProtoJSON of A2A 1.0 as an agent wrote it.
 *
 * - Unknown members are dropped.
 * - Absent members that Parley's types require get the default of the protocol's schema.
 * - Members may have their schema names (`context_id`), as ProtoJSON allows.
 * - Only members without which a Task cannot exist are required.
 *
 * @throws InvalidProtocolValue if a required member is missing, or a member has an invalid value
 */
export function readStreamResponse(json: unknown): StreamResponse {
  const response = isJsonObject(json) ? readStreamItem(json) : undefined;
  if (response) return response;
  throw new InvalidProtocolValue('none of task, message, statusUpdate and artifactUpdate is present');
}

/**
 * Reads an item of a stream as `readStreamResponse` does. Returns `undefined` for an item with none of the members of
 * A2A 1.0, which callers skip like any unknown member.
 * @throws InvalidProtocolValue
 */
export function readStreamItem(json: JsonObject): StreamResponse | undefined {
  if (isJsonObject(json.task)) return { task: readTask(json.task) };
  if (isJsonObject(json.message)) return { message: readProtoMessage(json.message) };
  const statusUpdate = json.statusUpdate ?? json.status_update;
  if (isJsonObject(statusUpdate)) return { statusUpdate: statusUpdateOf(statusUpdate) };
  const artifactUpdate = json.artifactUpdate ?? json.artifact_update;
  if (isJsonObject(artifactUpdate)) return { artifactUpdate: artifactUpdateOf(artifactUpdate) };
  return readBareItem(json);
}

/**
 * Reads an item in the form of 0.3, `{"kind": "task", …}` instead of `{"task": {…}}`, which some servers of 1.0 send.
 * Returns `undefined` for an unknown kind.
 */
function readBareItem(json: JsonObject): StreamResponse | undefined {
  switch (json.kind) {
    case 'task':
      return { task: readTask(json) };
    case 'message':
      return { message: readProtoMessage(json) };
    case 'status-update':
      return { statusUpdate: statusUpdateOf(json) };
    case 'artifact-update':
      return { artifactUpdate: artifactUpdateOf(json) };
    default:
      return undefined;
  }
}

/** Reads a Task as `readStreamResponse` does. @throws InvalidProtocolValue */
export function readTask(json: unknown): Task {
  if (!isJsonObject(json)) throw new InvalidProtocolValue('the Task is not an object');
  const task: Task = {
    id: requireText(json.id, 'task.id'),
    contextId: readString(json.contextId ?? json.context_id, 'task.contextId'),
    status: readTaskStatus(json.status),
  };
  if (isFilled(json.artifacts)) task.artifacts = readObjects(json.artifacts, 'task.artifacts').map(readProtoArtifact);
  if (isFilled(json.history)) task.history = readObjects(json.history, 'task.history').map(readProtoMessage);
  if (isJsonObject(json.metadata)) task.metadata = json.metadata;
  return task;
}

function statusUpdateOf(json: JsonObject): TaskStatusUpdateEvent {
  const update: TaskStatusUpdateEvent = { ...readReference(json), status: readTaskStatus(json.status) };
  if (isJsonObject(json.metadata)) update.metadata = json.metadata;
  return update;
}

function artifactUpdateOf(json: JsonObject): TaskArtifactUpdateEvent {
  if (!isJsonObject(json.artifact)) throw new InvalidProtocolValue('artifactUpdate.artifact is missing');
  const update: TaskArtifactUpdateEvent = { ...readReference(json), artifact: readProtoArtifact(json.artifact) };
  if (json.append) update.append = true;
  if (json.lastChunk ?? json.last_chunk) update.lastChunk = true;
  if (isJsonObject(json.metadata)) update.metadata = json.metadata;
  return update;
}

function readReference(json: JsonObject): { taskId: string; contextId: string } {
  return {
    taskId: requireText(json.taskId ?? json.task_id, 'taskId'),
    contextId: readString(json.contextId ?? json.context_id, 'contextId'),
  };
}

function readTaskStatus(json: unknown): TaskStatus {
  if (!isJsonObject(json)) throw new InvalidProtocolValue('status is missing');
  const read: TaskStatus = { state: readTaskState(json.state) };
  if (isJsonObject(json.message)) read.message = readProtoMessage(json.message);
  if (isFilled(json.timestamp)) read.timestamp = readString(json.timestamp, 'status.timestamp');
  return read;
}

/**
 * Task states by each form in which agents write them: the name in 1.0, the number (which ProtoJSON allows for enums;
 * from 1 in schema order), and the name in 0.3.
 */
const STATES: ReadonlyMap<JsonValue | undefined, TaskState> = new Map<JsonValue | undefined, TaskState>(
  TASK_STATES.flatMap((name, index) => [
    [name, name],
    [index + 1, name],
    [name.slice('TASK_STATE_'.length).toLowerCase().replace('_', '-'), name],
  ]),
);

/**
 * Reads a Task state. An unknown value is read as WORKING, like the unspecified state (section 5.5): the Task has
 * neither ended nor asked for input.
 */
function readTaskState(json: JsonValue | undefined): TaskState {
  return STATES.get(json) ?? 'TASK_STATE_WORKING';
}

const USER_ROLES: ReadonlySet<JsonValue | undefined> = new Set<JsonValue | undefined>(['ROLE_USER', 1, 'user']);

function readProtoMessage(json: JsonObject): Message {
  const read: Message = {
    messageId: readString(json.messageId ?? json.message_id, 'message.messageId'),
    role: USER_ROLES.has(json.role) ? 'ROLE_USER' : 'ROLE_AGENT',
    parts: readProtoParts(json.parts, 'message.parts'),
  };
  const contextId = json.contextId ?? json.context_id;
  if (isFilled(contextId)) read.contextId = readString(contextId, 'message.contextId');
  const taskId = json.taskId ?? json.task_id;
  if (isFilled(taskId)) read.taskId = readString(taskId, 'message.taskId');
  const metadata = withUnread(json);
  if (metadata) read.metadata = metadata;
  if (isFilled(json.extensions)) read.extensions = readStrings(json.extensions, 'message.extensions');
  const others = json.referenceTaskIds ?? json.reference_task_ids;
  if (isFilled(others)) read.referenceTaskIds = readStrings(others, 'message.referenceTaskIds');
  return read;
}

function readProtoArtifact(json: JsonObject): Artifact {
  const read: Artifact = {
    artifactId: readString(json.artifactId ?? json.artifact_id, 'artifact.artifactId'),
    parts: readProtoParts(json.parts, 'artifact.parts'),
  };
  if (isFilled(json.name)) read.name = readString(json.name, 'artifact.name');
  if (isFilled(json.description)) read.description = readString(json.description, 'artifact.description');
  const metadata = withUnread(json);
  if (metadata) read.metadata = metadata;
  if (isFilled(json.extensions)) read.extensions = readStrings(json.extensions, 'artifact.extensions');
  return read;
}

function readProtoParts(json: JsonValue | undefined, name: string): Part[] {
  return isFilled(json) ? readObjects(json, name).filter(isRead).map(readProtoPart) : [];
}

/** Metadata key of an Artifact or a Message for the list of unknown content kinds of its dropped Parts. */
export const UNREAD_PARTS = 'parley/unread-parts';

/** Known members of a Part; any other member is unknown content. */
const OF_A_PART = new Set(['text', 'raw', 'url', 'data', 'metadata', 'mediaType', 'media_type', 'filename', 'kind']);

/** True if a Part has content that A2A defines, or is empty; false if its only content is of an unknown kind. */
function isRead(json: JsonObject): boolean {
  return Object.keys(json).length === 0 || unreadContent(json) === undefined;
}

function unreadContent(json: JsonObject): string | undefined {
  if (['text', 'raw', 'url', 'data'].some((member) => json[member] !== undefined)) return undefined;
  if (isJsonObject(json.file)) return undefined;
  return Object.keys(json).find((member) => !OF_A_PART.has(member));
}

/**
 * Returns the metadata of an Artifact or a Message, with the unknown content kinds of its Parts under `UNREAD_PARTS`;
 * `undefined` if there is neither metadata nor unknown content.
 */
function withUnread({ parts: all, metadata }: JsonObject): JsonObject | undefined {
  const unread = Array.isArray(all) ? all.filter(isJsonObject).map(unreadContent) : [];
  const kinds = unread.filter((kind) => kind !== undefined);
  const given = isJsonObject(metadata) ? metadata : undefined;
  return kinds.length === 0 ? given : { ...given, [UNREAD_PARTS]: kinds };
}

/** Reads a Part. Null or absent content is read as `data: null`, since only data may be null. */
function readProtoPart(json: JsonObject): Part {
  const read = readPartContent(json);
  const file = isJsonObject(json.file) ? json.file : undefined;
  const mediaType = json.mediaType ?? json.media_type ?? file?.mimeType;
  if (isFilled(mediaType)) read.mediaType = readString(mediaType, 'part.mediaType');
  const filename = json.filename ?? file?.name;
  if (isFilled(filename)) read.filename = readString(filename, 'part.filename');
  if (isJsonObject(json.metadata)) read.metadata = json.metadata;
  return read;
}

function readPartContent(json: JsonObject): Part {
  if (isPresent(json.text)) return { text: readString(json.text, 'part.text') };
  if (isPresent(json.raw)) return { raw: standardBase64(readString(json.raw, 'part.raw')) };
  if (isPresent(json.url)) return { url: readString(json.url, 'part.url') };
  if (isJsonObject(json.file)) {
    const { bytes, uri } = json.file;
    if (isPresent(bytes)) return { raw: standardBase64(readString(bytes, 'part.file.bytes')) };
    return { url: readString(uri, 'part.file.uri') };
  }
  return { data: json.data ?? null };
}

/**
 * Converts base64 to the standard alphabet with padding: ProtoJSON readers must accept the URL-safe alphabet and
 * missing padding.
 */
export function standardBase64(raw: string): string {
  return raw.length % 4 === 0 && !/[-_]/.test(raw) ? raw : Buffer.from(raw, 'base64').toString('base64');
}

function requireText(json: JsonValue | undefined, name: string): string {
  if (!isFilled(json)) throw new InvalidProtocolValue(`${name} is missing`);
  return readString(json, name);
}

/** Reads a string. Numbers and booleans are converted: some agents write numeric ids. */
function readString(json: JsonValue | undefined, name: string): string {
  if (typeof json === 'string') return json;
  if (!isPresent(json)) return '';
  if (typeof json === 'object') throw new InvalidProtocolValue(`${name} is not a string`);
  return String(json);
}

function readStrings(json: JsonValue, name: string): string[] {
  return readArray(json, name).map((it) => readString(it, name));
}

function readObjects(json: JsonValue, name: string): JsonObject[] {
  return readArray(json, name).map((it) => {
    if (!isJsonObject(it)) throw new InvalidProtocolValue(`${name} holds something that is not an object`);
    return it;
  });
}

function readArray(json: JsonValue, name: string): JsonValue[] {
  if (!Array.isArray(json)) throw new InvalidProtocolValue(`${name} is not an array`);
  return json;
}

/** True unless a member is absent; ProtoJSON treats null as absent. */
function isPresent(json: JsonValue | undefined): json is Exclude<JsonValue, null> {
  return json !== undefined && json !== null;
}

/** True if a member is present and neither an empty string nor an empty list. */
function isFilled(json: JsonValue | undefined): json is Exclude<JsonValue, null> {
  return isPresent(json) && json !== '' && !(Array.isArray(json) && json.length === 0);
}
