import * as sdk from '@a2a-js/sdk';
import { A2AService } from '@a2a-js/sdk/server/grpc';
import {
  encodeSendMessageRequest,
  encodeSendMessageResponse,
  encodeStreamResponse,
  encodeTask,
  type JsonObject,
  readStreamResponse,
  readTask,
  type SendMessageRequest,
  type SendMessageResponse,
  type StreamResponse,
  type Task,
} from '#libs/protocol';

/** Codec of a message as the service uses it: for JSON-RPC and HTTP+JSON, and for gRPC. */
export interface OurCodec {
  /** Returns the ProtoJSON of a message that came over gRPC. */
  toJson(bytes: Buffer): JsonObject;
  /** Returns the bytes that are sent over gRPC for a message in ProtoJSON. */
  toBytes(json: JsonObject): Uint8Array;
  /** Reads an answer of an agent from ProtoJSON. The result says the same for each form of the same message. */
  read?(json: JsonObject): JsonObject;
}

interface Serializers {
  serialize: (value: never) => Buffer;
  deserialize: (bytes: Buffer) => unknown;
}

interface SdkCodec {
  fromJSON(json: unknown): unknown;
  toJSON(value: never): unknown;
}

type MethodName = keyof typeof A2AService;

function serializersOf(name: MethodName, of: 'request' | 'response'): Serializers {
  const method = A2AService[name] as unknown as Record<string, unknown>;
  return { serialize: method[`${of}Serialize`], deserialize: method[`${of}Deserialize`] } as Serializers;
}

function codecOf(
  type: string,
  codec: SdkCodec,
  name: MethodName,
  of: 'request' | 'response',
  more: Partial<Encoder> = {},
): readonly [string, OurCodec] {
  const { serialize, deserialize } = serializersOf(name, of);
  const encode = more.encode ?? ((json: JsonObject) => codec.fromJSON(json));
  const ours: OurCodec = {
    toJson: (bytes) => plain(codec.toJSON(deserialize(bytes) as never)),
    toBytes: (json) => serialize(encode(json) as never),
    ...(more.read && { read: more.read }),
  };
  return [type, ours] as const;
}

interface Encoder {
  encode(json: JsonObject): unknown;
  read(json: JsonObject): JsonObject;
}

const plain = (value: unknown): JsonObject => JSON.parse(JSON.stringify(value)) as JsonObject;
const readItem = (json: JsonObject): JsonObject => plain(readStreamResponse(json));

/** Codecs of all messages that a method takes or answers; these contain all others. */
export const OUR_CODECS: ReadonlyMap<string, OurCodec> = new Map<string, OurCodec>([
  codecOf('SendMessageRequest', sdk.SendMessageRequest, 'sendMessage', 'request', {
    encode: (json) => encodeSendMessageRequest(json as unknown as SendMessageRequest),
  }),
  codecOf('SendMessageResponse', sdk.SendMessageResponse, 'sendMessage', 'response', {
    encode: (json) => encodeSendMessageResponse(readStreamResponse(json) as SendMessageResponse),
    read: readItem,
  }),
  codecOf('StreamResponse', sdk.StreamResponse, 'sendStreamingMessage', 'response', {
    encode: (json) => encodeStreamResponse(readStreamResponse(json) as StreamResponse),
    read: readItem,
  }),
  codecOf('Task', sdk.Task, 'getTask', 'response', {
    encode: (json) => encodeTask(readTask(json) as Task),
    read: (json) => plain(readTask(json)),
  }),
  codecOf('GetTaskRequest', sdk.GetTaskRequest, 'getTask', 'request'),
  codecOf('ListTasksRequest', sdk.ListTasksRequest, 'listTasks', 'request'),
  codecOf('CancelTaskRequest', sdk.CancelTaskRequest, 'cancelTask', 'request'),
  codecOf('SubscribeToTaskRequest', sdk.SubscribeToTaskRequest, 'subscribeToTask', 'request'),
  codecOf('TaskPushNotificationConfig', sdk.TaskPushNotificationConfig, 'createTaskPushNotificationConfig', 'request'),
  codecOf(
    'GetTaskPushNotificationConfigRequest',
    sdk.GetTaskPushNotificationConfigRequest,
    'getTaskPushNotificationConfig',
    'request',
  ),
  codecOf(
    'ListTaskPushNotificationConfigsRequest',
    sdk.ListTaskPushNotificationConfigsRequest,
    'listTaskPushNotificationConfigs',
    'request',
  ),
  codecOf(
    'ListTaskPushNotificationConfigsResponse',
    sdk.ListTaskPushNotificationConfigsResponse,
    'listTaskPushNotificationConfigs',
    'response',
  ),
  codecOf(
    'DeleteTaskPushNotificationConfigRequest',
    sdk.DeleteTaskPushNotificationConfigRequest,
    'deleteTaskPushNotificationConfig',
    'request',
  ),
  codecOf('GetExtendedAgentCardRequest', sdk.GetExtendedAgentCardRequest, 'getExtendedAgentCard', 'request'),
  codecOf('AgentCard', sdk.AgentCard, 'getExtendedAgentCard', 'response'),
]);
