import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';
import { unwrappedData } from './v0-3-values.js';

/**
 * Parameters of A2A 0.3 as those of 1.0. Nothing is checked here: what makes no sense is handed on, for the schema of
 * 1.0 to refuse it with its field named.
 */
export type ReadV03 = (params: JsonValue) => JsonValue;

/** `message/send` and `message/stream`. Only `blocking: false` asks for an answer at once, as the official SDKs have it. */
export const readV03SendParams: ReadV03 = onObject(({ message, configuration, metadata }) => ({
  ...(message !== undefined && { message: messageOf(message) }),
  ...(configuration !== undefined && { configuration: configurationOf(configuration) }),
  ...(metadata !== undefined && { metadata }),
}));

/** `tasks/get`, `tasks/cancel` and `tasks/resubscribe`: the same members. */
export const readV03TaskParams: ReadV03 = (params) => params;

/** `tasks/pushNotificationConfig/set`. */
export const readV03PushConfig: ReadV03 = onObject(({ taskId, pushNotificationConfig }) => ({
  ...(isJsonObject(pushNotificationConfig) && pushConfigOf(pushNotificationConfig)),
  ...(taskId !== undefined && { taskId }),
}));

/** `tasks/pushNotificationConfig/get`, `list` and `delete`, which call the Task `id`. */
export const readV03PushParams: ReadV03 = onObject(({ id, pushNotificationConfigId }) => ({
  ...(id !== undefined && { taskId: id }),
  ...(pushNotificationConfigId !== undefined && { id: pushNotificationConfigId }),
}));

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
  const told = metadata !== undefined && { metadata };
  if (kind === 'text') return { ...(text !== undefined && { text }), ...told };
  if (kind === 'data') return data === undefined ? { ...told } : unwrappedData(data, metadata);
  if (kind === 'file' && isJsonObject(file)) return { ...fileOf(file), ...told };
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
    ...(isJsonObject(authentication) && { authentication: authenticationOf(authentication) }),
  };
}

function authenticationOf({ schemes, credentials }: JsonObject): JsonObject {
  const [scheme] = Array.isArray(schemes) ? schemes : [];
  return { ...(scheme !== undefined && { scheme }), ...(credentials !== undefined && { credentials }) };
}

function onObject(read: (params: JsonObject) => JsonObject): ReadV03 {
  return (params) => (isJsonObject(params) ? read(params) : params);
}
