import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';
import type { SendMessageRequest } from '../requests.js';
import { writePre10Part } from './pre-1-0-values.js';

/** The only method of the pre-1.0 dialect. */
export const PRE_1_0_SEND = 'a2a.sendMessage';

/**
 * Reads the parameters of `a2a.sendMessage` as those of SendMessage; invalid values are left for schema validation.
 * @param messageId creates the id of a Message without one, from its metadata
 */
export function readPre10SendParams(params: unknown, messageId: (metadata?: JsonValue) => string): JsonValue {
  if (!isJsonObject(params)) return params as JsonValue;
  const configuration = isJsonObject(params.configuration) ? params.configuration : {};
  const { blocking, acceptedOutputModes, historyLength } = configuration;
  return {
    ...(params.message !== undefined && { message: readMessage(params.message, messageId) }),
    configuration: {
      ...(acceptedOutputModes !== undefined && { acceptedOutputModes }),
      ...(historyLength !== undefined && { historyLength }),
      returnImmediately: blocking === false,
    },
    ...(params.metadata !== undefined && { metadata: params.metadata }),
  };
}

/**
 * Writes a request as the parameters of `a2a.sendMessage`, which blocks until the turn ends. Parts keep only their
 * content and media type; the dialect has no files, so their URLs and bytes become text or data.
 * @param isBare omits members that the dialect does not define: only role, Parts and `taskId` of the Message remain
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

function readMessage(message: JsonValue, newId: (metadata?: JsonValue) => string): JsonValue {
  if (!isJsonObject(message)) return message;
  const { role = 'user', parts, messageId = newId(message.metadata), ...rest } = message;
  return {
    ...rest,
    messageId,
    role: role === 'user' ? 'ROLE_USER' : role === 'agent' ? 'ROLE_AGENT' : role,
    ...(parts !== undefined && { parts: Array.isArray(parts) ? readParts(parts) : parts }),
  };
}

/** Reads Parts. A Message without Parts gets one empty text. */
function readParts(parts: JsonValue[]): JsonValue[] {
  return parts.length === 0 ? [{ text: '' }] : parts.map(readPart);
}

function readPart(part: JsonValue): JsonValue {
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
