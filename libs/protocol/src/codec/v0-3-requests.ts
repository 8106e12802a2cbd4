import { invalidParams } from '../errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';
import { protoNames, type ProtoNames, toJsonNames } from './proto-names.js';
import { unwrappedData } from './v0-3-values.js';

/**
 * Parameters of A2A 0.3 as those of 1.0, also under the names that 0.3's schema has for them (`task_id`). Nothing else is
 * checked here: what makes no sense is handed on, for the schema of 1.0 to refuse it with its field named.
 * @throws A2AError INVALID_PARAMS where a member has two names and two values
 */
export type ReadV03 = (params: JsonValue) => JsonValue;

const SEND_NAMES = protoNames([], {
  message: protoNames(['messageId', 'contextId', 'taskId', 'referenceTaskIds'], {
    parts: protoNames([], { file: protoNames(['mimeType']) }),
  }),
  configuration: protoNames(['acceptedOutputModes', 'historyLength', 'pushNotificationConfig']),
});

/** `message/send` and `message/stream`. Only `blocking: false` asks for an answer at once, as the official SDKs have it. */
export const readV03SendParams: ReadV03 = named(SEND_NAMES, ({ message, configuration, metadata }) => ({
  ...(message !== undefined && { message: messageOf(message) }),
  ...(configuration !== undefined && { configuration: configurationOf(configuration) }),
  ...(metadata !== undefined && { metadata }),
}));

/** `tasks/get`, `tasks/cancel` and `tasks/resubscribe`: the same members, which are read under both names later. */
export const readV03TaskParams: ReadV03 = (params) => params;

/** `tasks/pushNotificationConfig/set`. */
export const readV03PushConfig: ReadV03 = named(
  protoNames(['taskId', 'pushNotificationConfig']),
  ({ taskId, pushNotificationConfig }) => ({
    ...(isJsonObject(pushNotificationConfig) && pushConfigOf(pushNotificationConfig)),
    ...(taskId !== undefined && { taskId }),
  }),
);

const ONE_CONFIG_NAMES = protoNames(['pushNotificationConfigId']);

/** `tasks/pushNotificationConfig/list` and `delete`, which call the Task `id`. */
export const readV03PushParams: ReadV03 = named(ONE_CONFIG_NAMES, ({ id, pushNotificationConfigId }) => ({
  ...(id !== undefined && { taskId: id }),
  ...(pushNotificationConfigId !== undefined && { id: pushNotificationConfigId }),
}));

/**
 * `tasks/pushNotificationConfig/get`, which need not name a config: it means the one that was made without an id, which
 * has that of its Task.
 */
export const readV03OnePushParams: ReadV03 = named(ONE_CONFIG_NAMES, ({ id, pushNotificationConfigId }) => {
  // Not both of its names: only the Task's is missing.
  if (id === undefined) throw invalidParams({ field: 'taskId', description: 'is required' });
  return { taskId: id, id: (pushNotificationConfigId ?? '') === '' ? id : (pushNotificationConfigId as JsonValue) };
});

const ROLES: Readonly<Record<string, string>> = { user: 'ROLE_USER', agent: 'ROLE_AGENT' };

function messageOf(message: JsonValue): JsonValue {
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

/** Both forms of 0.3: JSON-RPC calls the config `pushNotificationConfig`, REST `pushNotification`. */
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

/** Of several schemes the first: 1.0 has one. */
export function pushConfigOf({ id, url, token, authentication }: JsonObject): JsonObject {
  return {
    ...(id !== undefined && { id }),
    ...(url !== undefined && { url }),
    ...(token !== undefined && { token }),
    ...(isJsonObject(authentication) && authenticationOf(authentication)),
  };
}

/** One that says nothing is none. */
function authenticationOf({ schemes, credentials }: JsonObject): JsonObject {
  const [scheme] = Array.isArray(schemes) ? schemes : [];
  if (scheme === undefined && (credentials ?? '') === '') return {};
  const authentication = { ...(scheme !== undefined && { scheme }), ...(credentials !== undefined && { credentials }) };
  return { authentication };
}

/** Reads an object whose members have JSON's names. */
export function named(names: ProtoNames, read: (params: JsonObject) => JsonObject): ReadV03 {
  return (params) => {
    if (!isJsonObject(params)) return params;
    toJsonNames(params, names);
    return read(params);
  };
}
