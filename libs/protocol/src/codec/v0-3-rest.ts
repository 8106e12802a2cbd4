import { invalidParams } from '../errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';
import type { Message, Part } from '../message.js';
import type { TaskPushNotificationConfig } from '../requests.js';
import type { Artifact, StreamResponse, Task, TaskStatus } from '../task.js';
import { protoNames } from './proto-names.js';
import {
  configurationOf,
  endsV03Stream,
  pushConfigOf,
  type ReadV03,
  unwrappedData,
  withJsonNames,
  wrappedData,
  writeV03PushConfig,
} from './v0-3.js';

/**
 * Writes a Task for HTTP+JSON of A2A 0.3. The ProtoJSON of that binding (`a2a.v1`) differs from JSON-RPC of 0.3 and
 * from 1.0: Parts of a Message are its `content`, files and data are nested objects, and CANCELED is spelled CANCELLED.
 */
export function writeV03RestTask({ status, artifacts, history, ...rest }: Task): JsonObject {
  return {
    ...rest,
    status: statusOf(status),
    ...(artifacts && { artifacts: artifacts.map(artifactOf) }),
    ...(history && { history: history.map(writeRestMessage) }),
  } as JsonObject;
}

/** Writes the answer to `message:send`, or an item of a stream, for HTTP+JSON of A2A 0.3. */
export function writeV03RestItem(response: StreamResponse): JsonObject {
  if ('task' in response) return { task: writeV03RestTask(response.task) };
  if ('message' in response) return { message: writeRestMessage(response.message) };
  if ('statusUpdate' in response) {
    const { status, ...rest } = response.statusUpdate;
    return { statusUpdate: { ...rest, status: statusOf(status), final: endsV03Stream(response) } };
  }
  const { artifact, ...rest } = response.artifactUpdate;
  return { artifactUpdate: { ...rest, artifact: artifactOf(artifact) } };
}

/**
 * Writes a push notification config as a resource of A2A 0.3: `{name, pushNotificationConfig}`, where `name` is
 * `tasks/{id}/pushNotificationConfigs/{configId}`.
 */
export function writeV03RestPushConfig(config: TaskPushNotificationConfig): JsonObject {
  const { pushNotificationConfig } = writeV03PushConfig(config);
  const name = `tasks/${config.taskId ?? ''}/pushNotificationConfigs/${config.id ?? ''}`;
  return { name, pushNotificationConfig: pushNotificationConfig ?? {} };
}

const PART_NAMES = protoNames([], { file: protoNames(['fileWithUri', 'fileWithBytes', 'mimeType']) });
const SEND_NAMES = protoNames([['request', 'message']], {
  message: protoNames(['messageId', 'contextId', 'taskId'], { content: PART_NAMES, parts: PART_NAMES }),
  configuration: protoNames(['acceptedOutputModes', 'historyLength', 'pushNotification', 'pushNotificationConfig']),
});
const CONFIG_NAMES = protoNames(['configId', 'pushNotificationConfig'], {
  config: protoNames(['pushNotificationConfig']),
});

/**
 * Reads the body of `POST /v1/message:send` and `:stream`. The Message is the member `message`, or `request` as in the
 * schema. ProtoJSON omits `blocking: false`, so a configuration without `blocking` requests an immediate answer;
 * without a configuration the call blocks.
 */
export const readV03RestSend: ReadV03 = withJsonNames(SEND_NAMES, ({ message, configuration, metadata }) => ({
  ...(message !== undefined && { message: readMessage(message) }),
  ...(configuration !== undefined && { configuration: readConfiguration(configuration) }),
  ...(metadata !== undefined && { metadata }),
}));

/**
 * Reads the body of `POST /v1/tasks/{id}/pushNotificationConfigs`: the config, or the resource that contains it. A
 * `configId` in the query or the body is the id of the config.
 */
export const readV03RestPushConfig: ReadV03 = withJsonNames(CONFIG_NAMES, (body) => {
  const resource = isJsonObject(body.config) ? body.config : body;
  const config = isJsonObject(resource.pushNotificationConfig) ? resource.pushNotificationConfig : resource;
  return {
    ...pushConfigOf(config),
    ...idBeside(config, body.configId),
    ...(body.taskId !== undefined && { taskId: body.taskId }),
  };
});

function idBeside({ id }: JsonObject, configId: JsonValue | undefined): JsonObject {
  if ((configId ?? '') === '') return {};
  if ((id ?? '') !== '' && id !== configId) {
    throw invalidParams({ field: 'configId', description: 'differs from the id of the config' });
  }
  return { id: configId as JsonValue };
}

function readConfiguration(configuration: JsonValue): JsonValue {
  return configurationOf(isJsonObject(configuration) ? { blocking: false, ...configuration } : configuration);
}

function statusOf({ state, message, timestamp }: TaskStatus): JsonObject {
  return {
    state: state === 'TASK_STATE_CANCELED' ? 'TASK_STATE_CANCELLED' : state,
    ...(message && { message: writeRestMessage(message) }),
    ...(timestamp !== undefined && { timestamp }),
  };
}

function writeRestMessage({ parts, ...rest }: Message): JsonObject {
  return { ...rest, content: parts.map(partOf) };
}

function artifactOf({ parts, ...rest }: Artifact): JsonObject {
  return { ...rest, parts: parts.map(partOf) };
}

function partOf(part: Part): JsonObject {
  const { text, raw, url, mediaType, filename, metadata } = part;
  const given = metadata && { metadata };
  if (text !== undefined) return { text, ...given };
  if (raw === undefined && url === undefined) {
    const { data, metadata: marked } = wrappedData(part);
    return { data: { data }, ...(marked && { metadata: marked }) };
  }
  const named = {
    ...(mediaType !== undefined && { mimeType: mediaType }),
    ...(filename !== undefined && { name: filename }),
  };
  return {
    file: raw === undefined ? { fileWithUri: url ?? '', ...named } : { fileWithBytes: raw, ...named },
    ...given,
  };
}

function readMessage(message: JsonValue): JsonValue {
  if (!isJsonObject(message)) return message;
  const { content = message.parts, ...rest } = message;
  return {
    ...rest,
    ...(content !== undefined && { parts: Array.isArray(content) ? content.map(readPart) : content }),
  };
}

function readPart(part: JsonValue): JsonValue {
  if (!isJsonObject(part)) return part;
  const { text, file, data, metadata } = part;
  const given = metadata !== undefined && { metadata };
  if (text !== undefined) return { text, ...given };
  if (isJsonObject(data)) return unwrappedData(data.data, metadata);
  return isJsonObject(file) ? { ...readFile(file), ...given } : {};
}

function readFile({ fileWithUri, fileWithBytes, mimeType, name }: JsonObject): JsonObject {
  return {
    ...(fileWithBytes !== undefined && { raw: fileWithBytes }),
    ...(fileWithUri !== undefined && { url: fileWithUri }),
    ...(mimeType !== undefined && mimeType !== '' && { mediaType: mimeType }),
    ...(name !== undefined && name !== '' && { filename: name }),
  };
}
