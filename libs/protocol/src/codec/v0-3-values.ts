import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';
import type { Message, Part } from '../message.js';
import type { TaskPushNotificationConfig } from '../requests.js';
import type { Artifact, StreamResponse, Task, TaskStatus } from '../task.js';
import { isActiveState, type TaskState } from '../task-state.js';

/** Status values in JSON of A2A 0.3, by Task state. */
const STATES: Readonly<Record<TaskState, string>> = {
  TASK_STATE_SUBMITTED: 'submitted',
  TASK_STATE_WORKING: 'working',
  TASK_STATE_COMPLETED: 'completed',
  TASK_STATE_FAILED: 'failed',
  TASK_STATE_CANCELED: 'canceled',
  TASK_STATE_INPUT_REQUIRED: 'input-required',
  TASK_STATE_REJECTED: 'rejected',
  TASK_STATE_AUTH_REQUIRED: 'auth-required',
};

/**
 * Metadata key that marks data wrapped as `{value}`, because 0.3 allows only objects. The official SDKs use the same
 * key.
 */
export const WRAPPED_DATA = 'data_part_compat';

/** Writes a Task as JSON of A2A 0.3 (its section 6.1). */
export function writeV03Task({ id, contextId, status, artifacts, history, metadata }: Task): JsonObject {
  return {
    kind: 'task',
    id,
    contextId,
    status: statusOf(status),
    ...(artifacts && { artifacts: artifacts.map(artifactOf) }),
    ...(history && { history: history.map(writeV03Message) }),
    ...(metadata && { metadata }),
  };
}

/** Writes a Message as JSON of A2A 0.3 (its section 6.4). */
export function writeV03Message({ role, parts, ...rest }: Message): JsonObject {
  return { kind: 'message', role: role === 'ROLE_USER' ? 'user' : 'agent', parts: parts.map(partOf), ...rest };
}

/** Writes an item of a stream of A2A 0.3. `final` marks the status that ends the turn, which is the last item. */
export function writeV03StreamItem(response: StreamResponse): JsonObject {
  if ('task' in response) return writeV03Task(response.task);
  if ('message' in response) return writeV03Message(response.message);
  if ('statusUpdate' in response) {
    const { status, ...rest } = response.statusUpdate;
    return { kind: 'status-update', ...rest, status: statusOf(status), final: endsV03Stream(response) };
  }
  const { artifact, ...rest } = response.artifactUpdate;
  return { kind: 'artifact-update', ...rest, artifact: artifactOf(artifact) };
}

/** True if an item is the last of a stream in 0.3, which ends as soon as the Task ends or waits. */
export function endsV03Stream(response: StreamResponse): boolean {
  return 'statusUpdate' in response && !isActiveState(response.statusUpdate.status.state);
}

/** Writes a push notification config as 0.3 nests it. */
export function writeV03PushConfig({ taskId = '', ...config }: TaskPushNotificationConfig): JsonObject {
  const { id, url, token, authentication } = config;
  return {
    taskId,
    pushNotificationConfig: {
      ...(id !== undefined && { id }),
      url,
      ...(token !== undefined && { token }),
      ...(authentication && { authentication: { ...authenticationOf(authentication) } }),
    },
  };
}

function authenticationOf({ scheme, credentials }: { scheme: string; credentials?: string }): JsonObject {
  return { schemes: [scheme], ...(credentials !== undefined && { credentials }) };
}

function statusOf({ state, message, timestamp }: TaskStatus): JsonObject {
  return {
    state: STATES[state],
    ...(message && { message: writeV03Message(message) }),
    ...(timestamp !== undefined && { timestamp }),
  };
}

function artifactOf({ parts, ...rest }: Artifact): JsonObject {
  return { ...rest, parts: parts.map(partOf) };
}

function partOf(part: Part): JsonObject {
  const { text, raw, url, mediaType, filename, metadata } = part;
  const given = metadata && { metadata };
  if (text !== undefined) return { kind: 'text', text, ...given };
  if (raw === undefined && url === undefined) return { kind: 'data', ...wrappedData(part) };
  const named = {
    ...(mediaType !== undefined && { mimeType: mediaType }),
    ...(filename !== undefined && { name: filename }),
  };
  return { kind: 'file', file: raw === undefined ? { uri: url ?? '', ...named } : { bytes: raw, ...named }, ...given };
}

/** Returns the data of a Part as an object, wrapped if it is none, and the Part's metadata. */
export function wrappedData({ data = null, metadata }: Part): { data: JsonObject; metadata?: JsonObject } {
  if (isJsonObject(data)) return { data, ...(metadata && { metadata }) };
  return { data: { value: data }, metadata: { ...metadata, [WRAPPED_DATA]: true } };
}

/** Unwraps data of 0.3; data not marked as wrapped is returned unchanged. */
export function unwrappedData(data: JsonValue | undefined, metadata: JsonValue | undefined): JsonObject {
  if (!isJsonObject(metadata) || metadata[WRAPPED_DATA] !== true || !isJsonObject(data)) {
    return { data: data ?? null, ...(metadata !== undefined && { metadata }) };
  }
  const { [WRAPPED_DATA]: _mark, ...rest } = metadata;
  return { data: data.value ?? null, ...(Object.keys(rest).length > 0 && { metadata: rest }) };
}
