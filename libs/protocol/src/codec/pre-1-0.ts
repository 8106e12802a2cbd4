import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';
import type { Message, Part } from '../message.js';
import type { SendMessageRequest } from '../requests.js';
import { type Artifact, derivedId, type Task, type TaskState } from '../task.js';
import { textStart } from '../text.js';
import { InvalidProtocolValue } from './proto-json.js';

/** Status values of the pre-1.0 dialect, by Task state. */
const STATUS: Readonly<Record<TaskState, string>> = {
  TASK_STATE_SUBMITTED: 'created',
  TASK_STATE_WORKING: 'working',
  TASK_STATE_INPUT_REQUIRED: 'input-required',
  TASK_STATE_AUTH_REQUIRED: 'input-required',
  TASK_STATE_COMPLETED: 'completed',
  TASK_STATE_FAILED: 'failed',
  TASK_STATE_REJECTED: 'failed',
  TASK_STATE_CANCELED: 'canceled',
};

const STATES: ReadonlyMap<string, TaskState> = new Map([
  ['created', 'TASK_STATE_SUBMITTED'],
  ['working', 'TASK_STATE_WORKING'],
  ['input-required', 'TASK_STATE_INPUT_REQUIRED'],
  ['completed', 'TASK_STATE_COMPLETED'],
  ['failed', 'TASK_STATE_FAILED'],
  ['canceled', 'TASK_STATE_CANCELED'],
]);

/** Maximum number of characters of an agent's value that an error quotes. */
const LONGEST_QUOTE = 64;

/** Writes a Task as the result of `a2a.sendMessage`: `{id, contextId, status, messages, artifacts}`. */
export function writePre10Task(task: Task): JsonObject {
  return {
    id: task.id,
    contextId: task.contextId,
    status: STATUS[task.status.state],
    messages: messagesOf(task).map(writeMessage),
    artifacts: (task.artifacts ?? []).map(writeArtifact),
  };
}

/**
 * Writes a Part of the pre-1.0 dialect, which has only text and data: a file's bytes become data of its media type, a
 * file's URL becomes text.
 */
function writePre10Part(part: Part): JsonObject {
  if (part.text !== undefined) return { type: 'text', text: part.text, mimeType: part.mediaType ?? 'text/plain' };
  if (part.url !== undefined) return { type: 'text', text: part.url, mimeType: 'text/uri-list' };
  const data = part.data === undefined ? (part.raw ?? null) : part.data;
  return { type: 'data', data, mimeType: part.mediaType ?? 'application/json' };
}

/** True for a Task of the pre-1.0 dialect: its status is a string, and it is not wrapped in another object. */
export function isPre10Task(result: unknown): result is JsonObject {
  return isJsonObject(result) && typeof result.status === 'string' && !('task' in result) && !('message' in result);
}

/**
 * Reads the answer to `a2a.sendMessage` as ProtoJSON of the answer to SendMessage. An answer in the shape of 1.0 is
 * returned unchanged.
 * @throws InvalidProtocolValue for a status that the dialect does not define
 */
export function readPre10SendResult(result: JsonObject): JsonObject {
  if ('task' in result || 'message' in result) return result;
  if ('messageId' in result) return { message: readMessage(result, '', 0) };
  return 'status' in result ? { task: readPre10Task(result) } : result;
}

/**
 * Reads a Task of the pre-1.0 dialect as ProtoJSON of 1.0. Its last Message becomes the status Message if the agent
 * sent it and the Task has not completed with an Artifact.
 * @throws InvalidProtocolValue for a status that the dialect does not define
 */
export function readPre10Task({ messages, ...task }: JsonObject): JsonObject {
  const artifacts = Array.isArray(task.artifacts) ? task.artifacts.filter(isJsonObject).map(readArtifact) : undefined;
  const said = Array.isArray(messages)
    ? messages.filter(isJsonObject).map((it, place) => readMessage(it, task.id ?? '', place))
    : [];
  const state = typeof task.status === 'string' ? stateOf(task.status) : undefined;
  const last = said.at(-1);
  const isStatus = last?.role === 'ROLE_AGENT' && (state !== 'TASK_STATE_COMPLETED' || !artifacts?.length);
  return {
    ...task,
    ...(state && { status: { state, ...(last && isStatus && { message: last }) } }),
    ...(Array.isArray(messages) && { history: said }),
    ...(artifacts && { artifacts }),
  };
}

function stateOf(status: string): TaskState {
  const state = STATES.get(status);
  if (state !== undefined) return state;
  throw new InvalidProtocolValue(`the status "${textStart(status, LONGEST_QUOTE)}" is no status of a Task`);
}

/**
 * Reads a Message. The dialect has no message ids: each Message gets an id derived from its Task and position, the same
 * at every read.
 */
function readMessage(message: JsonObject, taskId: JsonValue, place: number): JsonObject {
  const role = message.role === 'user' || message.role === 'ROLE_USER' ? 'ROLE_USER' : 'ROLE_AGENT';
  return { messageId: derivedId(taskId, place), ...message, role, parts: readParts(message.parts) };
}

function readArtifact({ index: _index, ...artifact }: JsonObject, place: number): JsonObject {
  return { artifactId: `artifact-${place}`, ...artifact, parts: readParts(artifact.parts) };
}

function readParts(parts: JsonValue | undefined): JsonObject[] {
  if (!Array.isArray(parts)) return [];
  return parts.filter(isJsonObject).map(({ type: _type, mimeType, ...part }) => ({
    ...(typeof mimeType === 'string' && { mediaType: mimeType }),
    ...part,
  }));
}

/**
 * Returns the Messages of a Task in the pre-1.0 dialect: its history, followed by one Message of the agent.
 *
 * - Completed Task with an Artifact: the first Artifact.
 * - Failed or rejected Task: the error.
 * - Other Tasks: the status Message, if any.
 */
function messagesOf(task: Task): Pick<Message, 'role' | 'parts'>[] {
  const { state, message } = task.status;
  const said = (task.history ?? []).filter((it) => it.messageId !== message?.messageId);
  const result = task.artifacts?.[0];
  if (STATUS[state] === 'failed') return [...said, { role: 'ROLE_AGENT', parts: errorParts(message) }];
  if (state === 'TASK_STATE_COMPLETED' && result) return [...said, { role: 'ROLE_AGENT', parts: result.parts }];
  return message ? [...said, message] : said;
}

function errorParts(message: Message | undefined): Part[] {
  const text = message?.parts.find((part) => part.text !== undefined)?.text ?? 'execution failed';
  return [{ text: text.startsWith('Error: ') ? text : `Error: ${text}` }];
}

function writeMessage({ role, parts }: Pick<Message, 'role' | 'parts'>): JsonObject {
  return { role: role === 'ROLE_USER' ? 'user' : 'agent', parts: parts.map(writePre10Part) };
}

function writeArtifact(artifact: Artifact, index: number): JsonObject {
  return {
    ...(artifact.name !== undefined && { name: artifact.name }),
    ...(artifact.description !== undefined && { description: artifact.description }),
    parts: artifact.parts.map(writePre10Part),
    index,
    ...(artifact.metadata && { metadata: artifact.metadata }),
  };
}

/** Name of the only method of the pre-1.0 dialect. */
export const PRE_1_0_SEND = 'a2a.sendMessage';

/**
 * Converts the parameters of `a2a.sendMessage` to the parameters of SendMessage. Invalid values are left for schema
 * validation.
 * @param messageId creates the id of a Message that has none, from its metadata
 */
export function readPre10SendParams(params: unknown, messageId: (metadata?: JsonValue) => string): JsonValue {
  if (!isJsonObject(params)) return params as JsonValue;
  const configuration = isJsonObject(params.configuration) ? params.configuration : {};
  const { blocking, acceptedOutputModes, historyLength } = configuration;
  return {
    ...(params.message !== undefined && { message: readSentMessage(params.message, messageId) }),
    configuration: {
      ...(acceptedOutputModes !== undefined && { acceptedOutputModes }),
      ...(historyLength !== undefined && { historyLength }),
      returnImmediately: blocking === false,
    },
    ...(params.metadata !== undefined && { metadata: params.metadata }),
  };
}

/**
 * Converts a SendMessage request to the parameters of `a2a.sendMessage` in the pre-1.0 dialect, which is older than A2A
 * 0.3 (docs/PROTOCOLS.md). The call blocks until the turn ends. Parts keep only their content and media type. The
 * dialect has no files, so the URL of a file becomes a text Part, and its bytes become a data Part.
 * @param isBare true to omit members that the dialect does not define: only role, Parts and `taskId` of the Message
 *   remain
 */
export function writePre10SendParams(
  { message, configuration, metadata }: SendMessageRequest,
  isBare = false,
): JsonObject {
  const { messageId, contextId, taskId } = message;
  const extras = {
    messageId,
    ...(contextId && { contextId }),
    ...(message.metadata && { metadata: message.metadata }),
  };
  return {
    message: {
      role: message.role === 'ROLE_AGENT' ? 'agent' : 'user',
      parts: message.parts.map(writePre10Part),
      ...(taskId && { taskId }),
      ...(!isBare && extras),
    },
    configuration: {
      ...(configuration?.acceptedOutputModes && { acceptedOutputModes: configuration.acceptedOutputModes }),
      blocking: true,
    },
    ...(!isBare && metadata && { metadata }),
  };
}

function readSentMessage(message: JsonValue, newId: (metadata?: JsonValue) => string): JsonValue {
  if (!isJsonObject(message)) return message;
  const { role = 'user', parts, messageId = newId(message.metadata), ...rest } = message;
  return {
    ...rest,
    messageId,
    role: role === 'user' ? 'ROLE_USER' : role === 'agent' ? 'ROLE_AGENT' : role,
    ...(parts !== undefined && { parts: Array.isArray(parts) ? readSentParts(parts) : parts }),
  };
}

/** Reads Parts. A Message without Parts gets one empty text. */
function readSentParts(parts: JsonValue[]): JsonValue[] {
  return parts.length === 0 ? [{ text: '' }] : parts.map(readSentPart);
}

function readSentPart(part: JsonValue): JsonValue {
  if (!isJsonObject(part)) return part;
  const { type, mimeType, ...rest } = part;
  const mediaType = mimeType ?? rest.mediaType;
  const content = type === 'text' ? { text: rest.text ?? '' } : type === 'data' ? { data: rest.data ?? null } : rest;
  return {
    ...content,
    ...(mediaType !== undefined && { mediaType }),
    ...(rest.metadata !== undefined && { metadata: rest.metadata }),
  };
}
