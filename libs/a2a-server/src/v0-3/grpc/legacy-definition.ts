import { fromBinary, fromJson, type JsonObject as ProtoJsonObject, toBinary, toJson } from '@bufbuild/protobuf';
import type { ServiceDefinition } from '@grpc/grpc-js';
import type { CallContext, ServedAgent } from '#libs/agents';
import {
  A2AError,
  type AgentCard,
  decodeFilesOnce,
  encodeFilesTwice,
  encodesMoreMembers,
  type FileEncoding,
  invalidParams,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  MEMBERS_IN_LEGACY_SEND,
  type ProtoPlaces,
  readV03RestPushConfig,
  readV03RestSend,
  type SendMessageResponse,
  type StreamResponse,
  type Task,
  type TaskPushNotificationConfig,
  writeV03RestItem,
  writeV03RestPushConfig,
  writeV03RestTask,
} from '#libs/protocol';
import { type A2aOperation, OPERATIONS } from '../../operations.js';
import type { RequestHandler } from '../../request-handler.js';
import { tooManyMembersError } from '../../validation/request-parsers.js';
import { type LegacyWords, PUSH_CONFIG_WORDS, REST_SEND_WORDS } from '../legacy-call.js';
import { legacyMessage } from './legacy-schema.js';

/** Name of the service of A2A 0.3. */
export const LEGACY_SERVICE_NAME = 'a2a.v1.A2AService';

/** Method of A2A 0.3 over gRPC: the operation of 1.0 that it runs, and the conversions of its request and result. */
export interface LegacyGrpcMethod {
  readonly operation: A2aOperation;
  /** Function that is run instead of `operation`, for a method with no equal in 1.0; absent: `operation` is run. */
  readonly run?: (handler: RequestHandler, agent: ServedAgent, call: CallContext) => Promise<unknown>;
  readonly request: string;
  readonly response: string;
  readonly words?: LegacyWords;
  /**
   * Fields of the request that contain JSON or lists. A request with too many members in them is refused before it is
   * decoded (`encodesMoreMembers`). Absent: the request is decoded without this check.
   */
  readonly members?: ProtoPlaces;
  /** Converts the ProtoJSON of a request to the parameters of 1.0. @throws A2AError INVALID_PARAMS */
  readonly read: (request: JsonObject) => JsonValue;
  /** Converts a result of 1.0 to the ProtoJSON of the response. */
  readonly write: (result: never) => JsonObject;
}

const writeTask = (result: Task): JsonObject => writeV03RestTask(result);
const writeItem = (result: SendMessageResponse | StreamResponse): JsonObject => writeV03RestItem(result);
const writeConfig = (result: TaskPushNotificationConfig): JsonObject => writeV03RestPushConfig(result);

/**
 * Writes a card with its security requirements under the name `security`. Their form is that of 1.0, as the schema
 * requires.
 */
function writeCard({ securityRequirements = [], ...card }: AgentCard): JsonObject {
  return { ...card, security: securityRequirements } as unknown as JsonObject;
}

/** Methods of `a2a.v1.A2AService` by name. */
export const LEGACY_METHODS: Readonly<Record<string, LegacyGrpcMethod>> = {
  SendMessage: {
    operation: OPERATIONS.SendMessage,
    request: 'SendMessageRequest',
    response: 'SendMessageResponse',
    words: REST_SEND_WORDS,
    members: MEMBERS_IN_LEGACY_SEND,
    read: readV03RestSend as LegacyGrpcMethod['read'],
    write: writeItem,
  },
  SendStreamingMessage: {
    operation: OPERATIONS.SendStreamingMessage,
    request: 'SendMessageRequest',
    response: 'StreamResponse',
    words: REST_SEND_WORDS,
    members: MEMBERS_IN_LEGACY_SEND,
    read: readV03RestSend as LegacyGrpcMethod['read'],
    write: writeItem,
  },
  GetTask: {
    operation: OPERATIONS.GetTask,
    request: 'GetTaskRequest',
    response: 'Task',
    // The schema has no presence: 0 means that the client names no length.
    read: ({ name, historyLength }) => ({
      id: taskIn(name, 'name'),
      ...(historyLength !== undefined && { historyLength }),
    }),
    write: writeTask,
  },
  CancelTask: {
    operation: OPERATIONS.CancelTask,
    request: 'NamedRequest',
    response: 'Task',
    read: ({ name }) => ({ id: taskIn(name, 'name') }),
    write: writeTask,
  },
  TaskSubscription: {
    operation: OPERATIONS.SubscribeToTask,
    request: 'NamedRequest',
    response: 'StreamResponse',
    read: ({ name }) => ({ id: taskIn(name, 'name') }),
    write: writeItem,
  },
  CreateTaskPushNotificationConfig: {
    operation: OPERATIONS.CreateTaskPushNotificationConfig,
    request: 'CreateTaskPushNotificationConfigRequest',
    response: 'TaskPushNotificationConfig',
    words: PUSH_CONFIG_WORDS,
    read: ({ parent, config, configId }) => {
      const resource = isJsonObject(config) ? config : {};
      const taskId = taskIn(parent, 'parent');
      return (readV03RestPushConfig as LegacyGrpcMethod['read'])({
        config: resource,
        taskId,
        ...(configId !== undefined && { configId }),
      });
    },
    write: writeConfig,
  },
  GetTaskPushNotificationConfig: {
    operation: OPERATIONS.GetTaskPushNotificationConfig,
    request: 'NamedRequest',
    response: 'TaskPushNotificationConfig',
    read: ({ name }) => configIn(name),
    write: writeConfig,
  },
  ListTaskPushNotificationConfig: {
    operation: OPERATIONS.ListTaskPushNotificationConfigs,
    request: 'ListTaskPushNotificationConfigRequest',
    response: 'ListTaskPushNotificationConfigResponse',
    read: ({ parent, pageSize, pageToken }) => ({
      taskId: taskIn(parent, 'parent'),
      ...(pageSize !== undefined && { pageSize }),
      ...(pageToken !== undefined && { pageToken }),
    }),
    write: ({
      configs = [],
      nextPageToken = '',
    }: {
      configs?: TaskPushNotificationConfig[];
      nextPageToken?: string;
    }) => ({
      configs: configs.map(writeV03RestPushConfig),
      nextPageToken,
    }),
  },
  DeleteTaskPushNotificationConfig: {
    operation: OPERATIONS.DeleteTaskPushNotificationConfig,
    request: 'NamedRequest',
    response: 'Nothing',
    read: ({ name }) => configIn(name),
    write: () => ({}),
  },
  GetAgentCard: {
    operation: OPERATIONS.GetExtendedAgentCard,
    run: (handler, agent, call) => handler.legacyCard(agent, call),
    request: 'Nothing',
    response: 'AgentCard',
    read: () => ({}),
    write: writeCard,
  },
};

const TASK_NAME = /^tasks\/([^/]+)$/;
const CONFIG_NAME = /^tasks\/([^/]+)\/pushNotificationConfigs\/([^/]+)$/;

/** Reads the id in the name of a Task: `tasks/{id}`. @throws A2AError INVALID_PARAMS */
function taskIn(name: JsonValue | undefined, field: string): string {
  const [, id] = TASK_NAME.exec(typeof name === 'string' ? name : '') ?? [];
  if (id === undefined) throw invalidParams({ field, description: 'must be tasks/{id}' });
  return id;
}

/** Reads the ids in the name of a config: `tasks/{id}/pushNotificationConfigs/{id}`. @throws A2AError INVALID_PARAMS */
function configIn(name: JsonValue | undefined): JsonObject {
  const [, taskId, id] = CONFIG_NAME.exec(typeof name === 'string' ? name : '') ?? [];
  if (taskId === undefined || id === undefined)
    throw invalidParams({ field: 'name', description: 'must be tasks/{id}/pushNotificationConfigs/{id}' });
  return { taskId, id };
}

/**
 * Decodes a request to ProtoJSON.
 * @throws A2AError PARSE_ERROR; INVALID_REQUEST if it has more than `mostMembers` members
 */
export function readLegacyRequest(
  { request, members = {} }: LegacyGrpcMethod,
  bytes: Uint8Array,
  mostMembers: number,
): JsonObject {
  if (encodesMoreMembers(bytes, members, mostMembers)) throw tooManyMembersError(mostMembers);
  try {
    const schema = legacyMessage(request);
    return toJson(schema, fromBinary(schema, bytes, { readUnknownFields: false })) as unknown as JsonObject;
  } catch (error) {
    throw new A2AError('PARSE_ERROR', { message: 'The message is not one of the protocol', cause: error });
  }
}

/** Encodes a response from ProtoJSON, without members that the schema does not have. */
export function writeLegacyResponse({ response }: LegacyGrpcMethod, json: JsonObject): Buffer {
  const schema = legacyMessage(response);
  return Buffer.from(toBinary(schema, fromJson(schema, json as ProtoJsonObject, { ignoreUnknownFields: true })));
}

/** Service definition of A2A 0.3: requests and responses are the bytes of their messages. */
export const LEGACY_SERVICE: ServiceDefinition = Object.fromEntries(
  Object.entries(LEGACY_METHODS).map(([name, { operation }]) => [
    name,
    {
      path: `/${LEGACY_SERVICE_NAME}/${name}`,
      requestStream: false,
      responseStream: operation.kind === 'stream',
      requestSerialize: asBuffer,
      requestDeserialize: asBuffer,
      responseSerialize: asBuffer,
      responseDeserialize: asBuffer,
    },
  ]),
);

function asBuffer(bytes: Buffer): Buffer {
  return bytes;
}

/** Decodes the files in the parameters once more, if the client encodes files twice in base64. */
export function decodeFiles(params: JsonValue, files: FileEncoding): JsonValue {
  return files === 'twice' ? decodeFilesOnce(params) : params;
}

/** Encodes the files in a result once more, if the client expects files to be encoded twice in base64. */
export function encodeFiles<T extends object>(result: T, files: FileEncoding): T {
  return files === 'twice' ? (encodeFilesTwice(result) as T) : result;
}
