import { invalidParams } from '../errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';
import { protoNames, type ProtoNames, toJsonNames } from './proto-names.js';
import { unwrappedData } from './v0-3-values.js';

/**
 * Converts parameters of A2A 0.3 to those of 1.0; names may also be those of the 0.3 schema (`task_id`). Other invalid
 * values are passed on, and the schema of 1.0 rejects them by field.
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
 * Parameters of `message/send` and `message/stream`. Only `blocking: false` requests an immediate answer, as in the
 * official SDKs.
 */
export const readV03SendParams: ReadV03 = withJsonNames(SEND_NAMES, ({ message, configuration, metadata }) => ({
  ...(message !== undefined && { message: readV03Message(message) }),
  ...(configuration !== undefined && { configuration: configurationOf(configuration) }),
  ...(metadata !== undefined && { metadata }),
}));

/**
 * Parameters of `tasks/get`, `tasks/cancel` and `tasks/resubscribe`. Their members equal those of 1.0; schema names are
 * handled later.
 */
export const readV03TaskParams: ReadV03 = (params) => params;

/** Parameters of `tasks/pushNotificationConfig/set`. */
export const readV03PushConfig: ReadV03 = withJsonNames(
  protoNames(['taskId', 'pushNotificationConfig']),
  ({ taskId, pushNotificationConfig }) => ({
    ...(isJsonObject(pushNotificationConfig) && pushConfigOf(pushNotificationConfig)),
    ...(taskId !== undefined && { taskId }),
  }),
);

const ONE_CONFIG_NAMES = protoNames(['pushNotificationConfigId']);

/** Parameters of `tasks/pushNotificationConfig/list` and `delete`, in which `id` is the id of the Task. */
export const readV03PushParams: ReadV03 = withJsonNames(ONE_CONFIG_NAMES, ({ id, pushNotificationConfigId }) => ({
  ...(id !== undefined && { taskId: id }),
  ...(pushNotificationConfigId !== undefined && { id: pushNotificationConfigId }),
}));

/**
 * Parameters of `tasks/pushNotificationConfig/get`. Without a config id, the config with the id of its Task is meant:
 * the one created without an id.
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
    ...(parts !== undefined && { parts: Array.isArray(parts) ? parts.map(partOf) : parts }),
  };
}

function partOf(part: JsonValue): JsonValue {
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
    ...(isJsonObject(authentication) && authenticationOf(authentication)),
  };
}

/** Converts an authentication of 0.3; an empty one is omitted. */
function authenticationOf({ schemes, credentials }: JsonObject): JsonObject {
  const [scheme] = Array.isArray(schemes) ? schemes : [];
  if (scheme === undefined && (credentials ?? '') === '') return {};
  const authentication = { ...(scheme !== undefined && { scheme }), ...(credentials !== undefined && { credentials }) };
  return { authentication };
}

/** Returns a reader that renames members to their JSON names first. A value that is no object passes unchanged. */
export function withJsonNames(names: ProtoNames, read: (params: JsonObject) => JsonObject): ReadV03 {
  return (params) => {
    if (!isJsonObject(params)) return params;
    toJsonNames(params, names);
    return read(params);
  };
}
