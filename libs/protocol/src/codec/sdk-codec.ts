import * as sdk from '@a2a-js/sdk';
import type { AgentCard } from '../agent-card.js';
import { isJsonObject, type JsonObject } from '../json.js';
import type { Message, Part } from '../message.js';
import type { SendMessageRequest } from '../requests.js';
import type {
  Artifact,
  StreamResponse,
  Task,
  TaskArtifactUpdateEvent,
  TaskStatus,
  TaskStatusUpdateEvent,
} from '../task.js';
import { TASK_STATES, type TaskState } from '../task-state.js';

/** A value from the wire that is no A2A 1.0 value. The text names the member at fault and nothing else. */
export class InvalidProtocolValue extends Error {
  override readonly name = 'InvalidProtocolValue';
}

/** The official SDK's form of a request. */
export function encodeSendMessageRequest(request: SendMessageRequest): sdk.SendMessageRequest {
  const encoded = sdk.SendMessageRequest.fromJSON(request);
  request.message.parts.forEach((part, index) => {
    const target = encoded.message?.parts[index];
    if (part.data === null && target) target.content = { $case: 'data', value: null };
  });
  return encoded;
}

/** The official SDK's form of a card, from ProtoJSON. */
export function encodeAgentCard(card: AgentCard): sdk.AgentCard {
  return sdk.AgentCard.fromJSON(card);
}

/** A card as ProtoJSON, with the members that A2A 1.0 requires present even where the agent left them out. */
export function decodeAgentCard(card: sdk.AgentCard): AgentCard {
  const json = sdk.AgentCard.toJSON(card) as JsonObject;
  return {
    name: '',
    description: '',
    version: '',
    supportedInterfaces: [],
    capabilities: {},
    defaultInputModes: [],
    defaultOutputModes: [],
    skills: [],
    ...json,
  };
}

/** @throws InvalidProtocolValue */
export function decodeStreamResponse(response: sdk.StreamResponse): StreamResponse {
  const json = sdk.StreamResponse.toJSON(response) as JsonObject;
  if (isJsonObject(json.task)) return { task: task(json.task) };
  if (isJsonObject(json.message)) return { message: message(json.message) };
  if (isJsonObject(json.statusUpdate)) return { statusUpdate: statusUpdate(json.statusUpdate) };
  if (isJsonObject(json.artifactUpdate)) return { artifactUpdate: artifactUpdate(json.artifactUpdate) };
  throw new InvalidProtocolValue('none of task, message, statusUpdate and artifactUpdate is present');
}

/** @throws InvalidProtocolValue */
export function decodeTask(value: sdk.Task): Task {
  return task(sdk.Task.toJSON(value) as JsonObject);
}

function task(json: JsonObject): Task {
  if (typeof json.id !== 'string') throw new InvalidProtocolValue('task.id is missing');
  return {
    ...json,
    id: json.id,
    contextId: text(json.contextId),
    status: status(json.status),
    ...(json.artifacts !== undefined && { artifacts: objects(json.artifacts).map(artifact) }),
    ...(json.history !== undefined && { history: objects(json.history).map(message) }),
  };
}

function statusUpdate(json: JsonObject): TaskStatusUpdateEvent {
  return { ...json, ...reference(json), status: status(json.status) };
}

function artifactUpdate(json: JsonObject): TaskArtifactUpdateEvent {
  if (!isJsonObject(json.artifact)) throw new InvalidProtocolValue('artifactUpdate.artifact is missing');
  return { ...json, ...reference(json), artifact: artifact(json.artifact) };
}

function reference(json: JsonObject): { taskId: string; contextId: string } {
  if (typeof json.taskId !== 'string') throw new InvalidProtocolValue('taskId is missing');
  return { taskId: json.taskId, contextId: text(json.contextId) };
}

function status(json: unknown): TaskStatus {
  if (!isJsonObject(json)) throw new InvalidProtocolValue('status is missing');
  const state = TASK_STATES.find((it) => it === json.state);
  if (state === undefined) throw new InvalidProtocolValue('status.state is not a state of A2A 1.0');
  return {
    ...(json as Partial<TaskStatus>),
    state: state satisfies TaskState,
    ...(isJsonObject(json.message) && { message: message(json.message) }),
  };
}

function message(json: JsonObject): Message {
  return {
    ...json,
    messageId: text(json.messageId),
    role: json.role === 'ROLE_USER' ? 'ROLE_USER' : 'ROLE_AGENT',
    parts: objects(json.parts).map(part),
  };
}

function artifact(json: JsonObject): Artifact {
  return { ...json, artifactId: text(json.artifactId), parts: objects(json.parts).map(part) };
}

/** The SDK drops a `data` that is null: a Part without content was that. */
function part(json: JsonObject): Part {
  const hasContent = 'text' in json || 'raw' in json || 'url' in json || 'data' in json;
  return hasContent ? json : { ...json, data: null };
}

function objects(json: unknown): JsonObject[] {
  return Array.isArray(json) ? json.filter(isJsonObject) : [];
}

function text(json: unknown): string {
  return typeof json === 'string' ? json : '';
}
