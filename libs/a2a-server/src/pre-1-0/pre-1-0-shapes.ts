import { randomUUID } from 'node:crypto';
import {
  type Artifact,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Message,
  type Part,
  type Task,
  type TaskState,
} from '#libs/protocol';

/** The words that the pre-1.0 dialect had for a Task's state. */
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

/**
 * The parameters of `a2a.sendMessage` as those of SendMessage; what makes no sense is left for the schema.
 * @param messageId makes the id of a Message that has none, from its metadata
 */
export function fromPre10Params(params: unknown, messageId: (metadata?: JsonValue) => string): JsonValue {
  if (!isJsonObject(params)) return params as JsonValue;
  const configuration = isJsonObject(params.configuration) ? params.configuration : {};
  const { blocking, acceptedOutputModes, historyLength } = configuration;
  return {
    ...(params.message !== undefined && { message: fromPre10Message(params.message, messageId) }),
    configuration: {
      ...(acceptedOutputModes !== undefined && { acceptedOutputModes }),
      ...(historyLength !== undefined && { historyLength }),
      returnImmediately: blocking === false,
    },
    ...(params.metadata !== undefined && { metadata: params.metadata }),
  };
}

/** The result of `a2a.sendMessage`: `{id, contextId, status, messages, artifacts}`. */
export function toPre10Task(task: Task): JsonObject {
  return {
    id: task.id,
    contextId: task.contextId,
    status: STATUS[task.status.state],
    messages: pre10Messages(task).map(toPre10Message),
    artifacts: (task.artifacts ?? []).map(toPre10Artifact),
  };
}

/** A direct answer as a Task that was completed at once; it was never kept. */
export function completedByReply(request: Message, reply: Message, taskId: string): Task {
  return {
    id: taskId,
    contextId: reply.contextId ?? request.contextId ?? randomUUID(),
    status: { state: 'TASK_STATE_COMPLETED' },
    artifacts: [{ artifactId: reply.messageId, parts: reply.parts }],
    history: [request],
  };
}

function fromPre10Message(message: JsonValue, newId: (metadata?: JsonValue) => string): JsonValue {
  if (!isJsonObject(message)) return message;
  const { role = 'user', parts, messageId = newId(message.metadata), ...rest } = message;
  return {
    ...rest,
    messageId,
    role: role === 'user' ? 'ROLE_USER' : role === 'agent' ? 'ROLE_AGENT' : role,
    ...(parts !== undefined && { parts: Array.isArray(parts) ? fromPre10Parts(parts) : parts }),
  };
}

/** A Message may have no Parts at all: it has no text then. */
function fromPre10Parts(parts: JsonValue[]): JsonValue[] {
  return parts.length === 0 ? [{ text: '' }] : parts.map(fromPre10Part);
}

function fromPre10Part(part: JsonValue): JsonValue {
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

/** Completed: what was said, then the result as the agent's answer. Failed: the agent's last word is the error. */
function pre10Messages(task: Task): Pick<Message, 'role' | 'parts'>[] {
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

function toPre10Message({ role, parts }: Pick<Message, 'role' | 'parts'>): JsonObject {
  return { role: role === 'ROLE_USER' ? 'user' : 'agent', parts: parts.map(toPre10Part) };
}

function toPre10Artifact(artifact: Artifact, index: number): JsonObject {
  return {
    ...(artifact.name !== undefined && { name: artifact.name }),
    ...(artifact.description !== undefined && { description: artifact.description }),
    parts: artifact.parts.map(toPre10Part),
    index,
    ...(artifact.metadata && { metadata: artifact.metadata }),
  };
}

/** The dialect knows text and data only: a file's bytes are data of their type, a file's URL is text. */
function toPre10Part(part: Part): JsonObject {
  if (part.text !== undefined) return { type: 'text', text: part.text, mimeType: part.mediaType ?? 'text/plain' };
  if (part.url !== undefined) return { type: 'text', text: part.url, mimeType: 'text/uri-list' };
  const data = part.data === undefined ? (part.raw ?? null) : part.data;
  return { type: 'data', data, mimeType: part.mediaType ?? 'application/json' };
}
