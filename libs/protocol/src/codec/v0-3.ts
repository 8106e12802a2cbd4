import { invalidParams } from '../errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';
import type { Message, Part } from '../message.js';
import type { TaskPushNotificationConfig } from '../requests.js';
import {
  type Artifact,
  isActiveState,
  type StreamResponse,
  type Task,
  type TaskState,
  type TaskStatus,
} from '../task.js';
import { protoNames, type ProtoNames, toJsonNames } from './proto-names.js';

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

/** Metadata key that marks data wrapped as `{value}`: data of 0.3 is an object. The official SDKs use the same key. */
const WRAPPED_DATA = 'data_part_compat';

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
function writeV03Message({ role, parts, ...rest }: Message): JsonObject {
  return { kind: 'message', role: role === 'ROLE_USER' ? 'user' : 'agent', parts: parts.map(writePart), ...rest };
}

/** Writes an item of a stream of A2A 0.3. `final` marks the status that ends the turn and the stream. */
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

/** True if an item is the last of a stream of 0.3, which ends as soon as the Task ends or waits. */
export function endsV03Stream(response: StreamResponse): boolean {
  return 'statusUpdate' in response && !isActiveState(response.statusUpdate.status.state);
}

/** Writes a push notification config as 0.3 nests it: `{taskId, pushNotificationConfig: {id, url, …}}`. */
export function writeV03PushConfig({ taskId = '', ...config }: TaskPushNotificationConfig): JsonObject {
  const { id, url, token, authentication } = config;
  return {
    taskId,
    pushNotificationConfig: {
      ...(id !== undefined && { id }),
      url,
      ...(token !== undefined && { token }),
      ...(authentication && { authentication: { ...writeAuthentication(authentication) } }),
    },
  };
}

function writeAuthentication({ scheme, credentials }: { scheme: string; credentials?: string }): JsonObject {
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
  return { ...rest, parts: parts.map(writePart) };
}

function writePart(part: Part): JsonObject {
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

/** Returns the data of a Part as an object, and the Part's metadata. Data that is no object is wrapped and marked. */
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

/**
 * Function that converts parameters of A2A 0.3 to parameters of 1.0. Members may also have their names in the 0.3
 * schema (`task_id`). Other invalid values are passed on, and the schema of 1.0 rejects them by field.
 * @throws A2AError INVALID_PARAMS if a member is present under both names with different values
 */
export type ReadV03 = (params: JsonValue) => JsonValue;

const SEND_NAMES = protoNames([], {
  message: protoNames(['messageId', 'contextId', 'taskId', 'referenceTaskIds'], {
    parts: protoNames([], { file: protoNames(['mimeType']) }),
  }),
  configuration: protoNames(['acceptedOutputModes', 'historyLength', 'pushNotificationConfig']),
});

/**
 * Reads the parameters of `message/send` and `message/stream`. Only `blocking: false` requests an immediate answer, as
 * in the official SDKs.
 */
export const readV03SendParams: ReadV03 = withJsonNames(SEND_NAMES, ({ message, configuration, metadata }) => ({
  ...(message !== undefined && { message: readV03Message(message) }),
  ...(configuration !== undefined && { configuration: configurationOf(configuration) }),
  ...(metadata !== undefined && { metadata }),
}));

/**
 * Reads the parameters of `tasks/get`, `tasks/cancel` and `tasks/resubscribe`. They have the form of 1.0 and are
 * returned unchanged. Schema names are converted later, by the request parser.
 */
export const readV03TaskParams: ReadV03 = (params) => params;

/** Reads the parameters of `tasks/pushNotificationConfig/set`. */
export const readV03PushConfig: ReadV03 = withJsonNames(
  protoNames(['taskId', 'pushNotificationConfig']),
  ({ taskId, pushNotificationConfig }) => ({
    ...(isJsonObject(pushNotificationConfig) && pushConfigOf(pushNotificationConfig)),
    ...(taskId !== undefined && { taskId }),
  }),
);

const ONE_CONFIG_NAMES = protoNames(['pushNotificationConfigId']);

/** Reads the parameters of `tasks/pushNotificationConfig/list` and `delete`, in which `id` is the id of the Task. */
export const readV03PushParams: ReadV03 = withJsonNames(ONE_CONFIG_NAMES, ({ id, pushNotificationConfigId }) => ({
  ...(id !== undefined && { taskId: id }),
  ...(pushNotificationConfigId !== undefined && { id: pushNotificationConfigId }),
}));

/**
 * Reads the parameters of `tasks/pushNotificationConfig/get`. Without a config id the id of the Task is used: a config
 * that was created without an id has the id of its Task.
 */
export const readV03OnePushParams: ReadV03 = withJsonNames(ONE_CONFIG_NAMES, ({ id, pushNotificationConfigId }) => {
  // Reports only the Task's id: the config id is optional.
  if (id === undefined) throw invalidParams({ field: 'taskId', description: 'is required' });
  return { taskId: id, id: (pushNotificationConfigId ?? '') === '' ? id : (pushNotificationConfigId as JsonValue) };
});

const ROLES: Readonly<Record<string, string>> = { user: 'ROLE_USER', agent: 'ROLE_AGENT' };

function readV03Message(message: JsonValue): JsonValue {
  if (!isJsonObject(message)) return message;
  const { role, parts } = message;
  return {
    ...message,
    ...(role !== undefined && { role: typeof role === 'string' ? (ROLES[role] ?? role) : role }),
    ...(parts !== undefined && { parts: Array.isArray(parts) ? parts.map(readPart) : parts }),
  };
}

function readPart(part: JsonValue): JsonValue {
  if (!isJsonObject(part)) return part;
  const { kind, text, file, data, metadata } = part;
  const given = metadata !== undefined && { metadata };
  if (kind === 'text') return { ...(text !== undefined && { text }), ...given };
  if (kind === 'data') return data === undefined ? { ...given } : unwrappedData(data, metadata);
  if (kind === 'file' && isJsonObject(file)) return { ...fileOf(file), ...given };
  return {};
}

function fileOf({ bytes, uri, mimeType, name }: JsonObject): JsonObject {
  return {
    ...(bytes !== undefined && { raw: bytes }),
    ...(uri !== undefined && { url: uri }),
    ...(mimeType !== undefined && { mediaType: mimeType }),
    ...(name !== undefined && { filename: name }),
  };
}

/**
 * Converts a configuration of 0.3: JSON-RPC names the push config `pushNotificationConfig`, REST `pushNotification`.
 */
export function configurationOf(configuration: JsonValue): JsonValue {
  if (!isJsonObject(configuration)) return configuration;
  const { acceptedOutputModes, historyLength, blocking, pushNotificationConfig, pushNotification } = configuration;
  const push = pushNotificationConfig ?? pushNotification;
  return {
    ...(acceptedOutputModes !== undefined && { acceptedOutputModes }),
    ...(historyLength !== undefined && { historyLength }),
    ...(isJsonObject(push) && { taskPushNotificationConfig: pushConfigOf(push) }),
    returnImmediately: typeof blocking === 'boolean' ? !blocking : (blocking ?? false),
  };
}

/** Converts a push config of 0.3. Only the first authentication scheme is kept, since 1.0 has one. */
export function pushConfigOf({ id, url, token, authentication }: JsonObject): JsonObject {
  return {
    ...(id !== undefined && { id }),
    ...(url !== undefined && { url }),
    ...(token !== undefined && { token }),
    ...(isJsonObject(authentication) && readAuthentication(authentication)),
  };
}

/** Converts an authentication of 0.3; an empty one is omitted. */
function readAuthentication({ schemes, credentials }: JsonObject): JsonObject {
  const [scheme] = Array.isArray(schemes) ? schemes : [];
  if (scheme === undefined && (credentials ?? '') === '') return {};
  const authentication = { ...(scheme !== undefined && { scheme }), ...(credentials !== undefined && { credentials }) };
  return { authentication };
}

/** Returns a function that renames members to JSON names, then reads them. Other values than objects are unchanged. */
export function withJsonNames(names: ProtoNames, read: (params: JsonObject) => JsonObject): ReadV03 {
  return (params) => {
    if (!isJsonObject(params)) return params;
    toJsonNames(params, names);
    return read(params);
  };
}
