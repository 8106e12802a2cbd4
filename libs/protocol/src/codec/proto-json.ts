import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';
import type { Message, Part } from '../message.js';
import type {
  Artifact,
  StreamResponse,
  Task,
  TaskArtifactUpdateEvent,
  TaskStatus,
  TaskStatusUpdateEvent,
} from '../task.js';
import { TASK_STATES, type TaskState } from '../task-state.js';
import { InvalidProtocolValue } from './invalid-protocol-value.js';

/**
 * Reads what an agent wrote as ProtoJSON of A2A 1.0. Members that A2A does not know are left out, absent ones that
 * Parley's types require get the default of the protocol's schema, and names may also be those of the schema
 * (`context_id`), as ProtoJSON has it. Only what a Task cannot be without is refused when it is missing.
 * @throws InvalidProtocolValue
 */
export function readStreamResponse(json: unknown): StreamResponse {
  const response = isJsonObject(json) ? readStreamItem(json) : undefined;
  if (response) return response;
  throw new InvalidProtocolValue('none of task, message, statusUpdate and artifactUpdate is present');
}

/**
 * An item of a stream; `undefined` for one that holds nothing that A2A 1.0 knows, which is passed over like any other
 * unknown member.
 * @throws InvalidProtocolValue
 */
export function readStreamItem(json: JsonObject): StreamResponse | undefined {
  if (isJsonObject(json.task)) return { task: readTask(json.task) };
  if (isJsonObject(json.message)) return { message: message(json.message) };
  const statusUpdate = json.statusUpdate ?? json.status_update;
  if (isJsonObject(statusUpdate)) return { statusUpdate: statusUpdateOf(statusUpdate) };
  const artifactUpdate = json.artifactUpdate ?? json.artifact_update;
  if (isJsonObject(artifactUpdate)) return { artifactUpdate: artifactUpdateOf(artifactUpdate) };
  return undefined;
}

/** @throws InvalidProtocolValue */
export function readTask(json: unknown): Task {
  if (!isJsonObject(json)) throw new InvalidProtocolValue('the Task is not an object');
  const task: Task = {
    id: required(json.id, 'task.id'),
    contextId: text(json.contextId ?? json.context_id, 'task.contextId'),
    status: status(json.status),
  };
  if (isFilled(json.artifacts)) task.artifacts = objects(json.artifacts, 'task.artifacts').map(artifact);
  if (isFilled(json.history)) task.history = objects(json.history, 'task.history').map(message);
  if (isJsonObject(json.metadata)) task.metadata = json.metadata;
  return task;
}

function statusUpdateOf(json: JsonObject): TaskStatusUpdateEvent {
  const update: TaskStatusUpdateEvent = { ...reference(json), status: status(json.status) };
  if (isJsonObject(json.metadata)) update.metadata = json.metadata;
  return update;
}

function artifactUpdateOf(json: JsonObject): TaskArtifactUpdateEvent {
  if (!isJsonObject(json.artifact)) throw new InvalidProtocolValue('artifactUpdate.artifact is missing');
  const update: TaskArtifactUpdateEvent = { ...reference(json), artifact: artifact(json.artifact) };
  if (json.append) update.append = true;
  if (json.lastChunk ?? json.last_chunk) update.lastChunk = true;
  if (isJsonObject(json.metadata)) update.metadata = json.metadata;
  return update;
}

function reference(json: JsonObject): { taskId: string; contextId: string } {
  return {
    taskId: required(json.taskId ?? json.task_id, 'taskId'),
    contextId: text(json.contextId ?? json.context_id, 'contextId'),
  };
}

function status(json: unknown): TaskStatus {
  if (!isJsonObject(json)) throw new InvalidProtocolValue('status is missing');
  const read: TaskStatus = { state: state(json.state) };
  if (isJsonObject(json.message)) read.message = message(json.message);
  if (isFilled(json.timestamp)) read.timestamp = text(json.timestamp, 'status.timestamp');
  return read;
}

/** ProtoJSON may write an enum as its number too; they count from 1 in the order of the schema. */
const STATES: ReadonlyMap<JsonValue | undefined, TaskState> = new Map<JsonValue | undefined, TaskState>(
  TASK_STATES.flatMap((name, index) => [
    [name, name],
    [index + 1, name],
  ]),
);

/**
 * ProtoJSON reads an enum value that it does not know as the unspecified one (section 5.5). A Task of such a state has
 * neither ended nor asked for anything, so that it works.
 */
function state(json: JsonValue | undefined): TaskState {
  return STATES.get(json) ?? 'TASK_STATE_WORKING';
}

function message(json: JsonObject): Message {
  const read: Message = {
    messageId: text(json.messageId ?? json.message_id, 'message.messageId'),
    role: json.role === 'ROLE_USER' || json.role === 1 ? 'ROLE_USER' : 'ROLE_AGENT',
    parts: parts(json.parts, 'message.parts'),
  };
  const contextId = json.contextId ?? json.context_id;
  if (isFilled(contextId)) read.contextId = text(contextId, 'message.contextId');
  const taskId = json.taskId ?? json.task_id;
  if (isFilled(taskId)) read.taskId = text(taskId, 'message.taskId');
  const metadata = withUnread(json);
  if (metadata) read.metadata = metadata;
  if (isFilled(json.extensions)) read.extensions = texts(json.extensions, 'message.extensions');
  const others = json.referenceTaskIds ?? json.reference_task_ids;
  if (isFilled(others)) read.referenceTaskIds = texts(others, 'message.referenceTaskIds');
  return read;
}

function artifact(json: JsonObject): Artifact {
  const read: Artifact = {
    artifactId: text(json.artifactId ?? json.artifact_id, 'artifact.artifactId'),
    parts: parts(json.parts, 'artifact.parts'),
  };
  if (isFilled(json.name)) read.name = text(json.name, 'artifact.name');
  if (isFilled(json.description)) read.description = text(json.description, 'artifact.description');
  const metadata = withUnread(json);
  if (metadata) read.metadata = metadata;
  if (isFilled(json.extensions)) read.extensions = texts(json.extensions, 'artifact.extensions');
  return read;
}

function parts(json: JsonValue | undefined, name: string): Part[] {
  return isFilled(json) ? objects(json, name).filter(isRead).map(part) : [];
}

/** The metadata key under which an Artifact or a Message names the content of its Parts that A2A does not know. */
export const UNREAD_PARTS = 'parley/unread-parts';

/** Members of a Part; any other one is a content that A2A does not know. */
const OF_A_PART = new Set(['text', 'raw', 'url', 'data', 'metadata', 'mediaType', 'media_type', 'filename', 'kind']);

/** False for a Part that has nothing but a content that A2A does not know. */
function isRead(json: JsonObject): boolean {
  return Object.keys(json).length === 0 || unreadContent(json) === undefined;
}

function unreadContent(json: JsonObject): string | undefined {
  if (['text', 'raw', 'url', 'data'].some((member) => json[member] !== undefined)) return undefined;
  return Object.keys(json).find((member) => !OF_A_PART.has(member));
}

/** Returns the metadata of an Artifact or a Message, and what Parts of it are not read. */
function withUnread({ parts: all, metadata }: JsonObject): JsonObject | undefined {
  const unread = Array.isArray(all) ? all.filter(isJsonObject).map(unreadContent) : [];
  const kinds = unread.filter((kind) => kind !== undefined);
  const given = isJsonObject(metadata) ? metadata : undefined;
  return kinds.length === 0 ? given : { ...given, [UNREAD_PARTS]: kinds };
}

/** A Part whose content is null, or absent, carries a `data` that is null: the one content that can be so. */
function part(json: JsonObject): Part {
  const read = content(json);
  const mediaType = json.mediaType ?? json.media_type;
  if (isFilled(mediaType)) read.mediaType = text(mediaType, 'part.mediaType');
  if (isFilled(json.filename)) read.filename = text(json.filename, 'part.filename');
  if (isJsonObject(json.metadata)) read.metadata = json.metadata;
  return read;
}

function content(json: JsonObject): Part {
  if (isPresent(json.text)) return { text: text(json.text, 'part.text') };
  if (isPresent(json.raw)) return { raw: standardBase64(text(json.raw, 'part.raw')) };
  if (isPresent(json.url)) return { url: text(json.url, 'part.url') };
  return { data: json.data ?? null };
}

/** ProtoJSON allows the URL-safe alphabet and no padding where bytes are read; it writes neither. */
export function standardBase64(raw: string): string {
  return raw.length % 4 === 0 && !/[-_]/.test(raw) ? raw : Buffer.from(raw, 'base64').toString('base64');
}

function required(json: JsonValue | undefined, name: string): string {
  if (!isFilled(json)) throw new InvalidProtocolValue(`${name} is missing`);
  return text(json, name);
}

/** Agents that count their ids write numbers: these are taken for their text. */
function text(json: JsonValue | undefined, name: string): string {
  if (typeof json === 'string') return json;
  if (!isPresent(json)) return '';
  if (typeof json === 'object') throw new InvalidProtocolValue(`${name} is not a string`);
  return String(json);
}

function texts(json: JsonValue, name: string): string[] {
  return array(json, name).map((it) => text(it, name));
}

function objects(json: JsonValue, name: string): JsonObject[] {
  return array(json, name).map((it) => {
    if (!isJsonObject(it)) throw new InvalidProtocolValue(`${name} holds something that is not an object`);
    return it;
  });
}

function array(json: JsonValue, name: string): JsonValue[] {
  if (!Array.isArray(json)) throw new InvalidProtocolValue(`${name} is not an array`);
  return json;
}

/** ProtoJSON reads null as absent. */
function isPresent(json: JsonValue | undefined): json is Exclude<JsonValue, null> {
  return json !== undefined && json !== null;
}

/** Whether a member says more than its default would. */
function isFilled(json: JsonValue | undefined): json is Exclude<JsonValue, null> {
  return isPresent(json) && json !== '' && !(Array.isArray(json) && json.length === 0);
}
