import * as sdk from '@a2a-js/sdk';
import { A2AService } from '@a2a-js/sdk/server/grpc';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import type { ServiceDefinition } from '@grpc/grpc-js';
import {
  A2AError,
  encodeSendMessageResponse,
  encodeStreamResponse,
  encodeTask,
  type JsonObject,
  type SendMessageResponse,
  type StreamResponse,
  type Task,
} from '#libs/protocol';
import type { OPERATIONS } from '../operations.js';
import { tooManyMembersError } from '../validation/request-parsers.js';

/**
 * Fields of a protobuf message that may contain JSON, by field number: `places` are the fields of the message in that
 * field. `counts` is true if each value of the field is a member of that JSON.
 */
interface JsonPlaces {
  readonly [field: number]: { readonly places: () => JsonPlaces; readonly counts?: true };
}

const VALUE: JsonPlaces = { 5: { places: () => STRUCT }, 6: { places: () => LIST } };
const LIST: JsonPlaces = { 1: { places: () => VALUE, counts: true } };
const ENTRY: JsonPlaces = { 2: { places: () => VALUE } };
/** `google.protobuf.Struct`. */
const STRUCT: JsonPlaces = { 1: { places: () => ENTRY, counts: true } };
const PART: JsonPlaces = { 4: { places: () => VALUE }, 5: { places: () => STRUCT } };
const MESSAGE: JsonPlaces = { 5: { places: () => PART }, 6: { places: () => STRUCT } };

/** Fields with JSON in SendMessageRequest of `a2a.proto`. */
export const JSON_IN_SEND: JsonPlaces = { 2: { places: () => MESSAGE }, 4: { places: () => STRUCT } };
/** Fields with JSON in CancelTaskRequest of `a2a.proto`. */
export const JSON_IN_CANCEL: JsonPlaces = { 3: { places: () => STRUCT } };

/**
 * Maximum depth of the search in protobuf messages; each level of JSON takes three levels of messages. Deeper messages
 * are rejected after decoding.
 */
const DEEPEST = 400;
const BYTES_PER_MEMBER = 2;

/**
 * True if the JSON in an encoded request has more members than `limit`. Checked before decoding, which takes a
 * hundred times as long. The result is unspecified for bytes that are not a request.
 * @param places fields of the request that contain JSON
 */
export function encodesMoreMembers(bytes: Uint8Array, places: JsonPlaces, limit: number): boolean {
  if (bytes.length < limit * BYTES_PER_MEMBER) return false;
  try {
    return new WireMemberCount(limit).isBeyond(new BinaryReader(bytes), bytes.length, places, 0);
  } catch {
    return false;
  }
}

class WireMemberCount {
  private members = 0;

  constructor(private readonly limit: number) {}

  isBeyond(reader: BinaryReader, end: number, places: JsonPlaces, depth: number): boolean {
    while (reader.pos < end) {
      const [field, type] = reader.tag();
      const place = type === WireType.LengthDelimited && depth < DEEPEST ? places[field] : undefined;
      if (place === undefined) {
        reader.skip(type, field);
        continue;
      }
      if (place.counts && (this.members += 1) > this.limit) return true;
      const length = reader.uint32();
      if (this.isBeyond(reader, reader.pos + length, place.places(), depth + 1)) return true;
    }
    return false;
  }
}

/** Received request. The handler decodes its bytes, and rejects an invalid request as other bindings do. */
export interface GrpcRequest {
  /**
   * Decodes the request to its parameters as ProtoJSON. @throws A2AError PARSE_ERROR; INVALID_REQUEST if their JSON has
   * more than `mostMembers` members
   */
  readParams(mostMembers: number): JsonObject;
}

interface GrpcMethod {
  path: string;
  requestStream: false;
  responseStream: boolean;
  requestSerialize: (value: never) => Buffer;
  requestDeserialize: (bytes: Buffer) => GrpcRequest;
  responseSerialize: (value: unknown) => Buffer;
  responseDeserialize: (bytes: Buffer) => unknown;
}

/** Methods of `a2a.proto` as compiled by the official SDK, but with ProtoJSON as requests and responses. */
const GRPC_METHODS: Readonly<Record<keyof typeof OPERATIONS, GrpcMethod>> = {
  SendMessage: defineMethod(
    A2AService.sendMessage,
    sdk.SendMessageRequest,
    (value: SendMessageResponse) => encodeSendMessageResponse(value),
    JSON_IN_SEND,
  ),
  SendStreamingMessage: defineMethod(
    A2AService.sendStreamingMessage,
    sdk.SendMessageRequest,
    (value: StreamResponse) => encodeStreamResponse(value),
    JSON_IN_SEND,
  ),
  GetTask: defineMethod(A2AService.getTask, sdk.GetTaskRequest, (value: Task) => encodeTask(value)),
  ListTasks: defineMethod(A2AService.listTasks, sdk.ListTasksRequest, encodeList),
  CancelTask: defineMethod(
    A2AService.cancelTask,
    sdk.CancelTaskRequest,
    (value: Task) => encodeTask(value),
    JSON_IN_CANCEL,
  ),
  SubscribeToTask: defineMethod(A2AService.subscribeToTask, sdk.SubscribeToTaskRequest, (value: StreamResponse) =>
    encodeStreamResponse(value),
  ),
  CreateTaskPushNotificationConfig: defineMethod(
    A2AService.createTaskPushNotificationConfig,
    sdk.TaskPushNotificationConfig,
    (value: unknown) => sdk.TaskPushNotificationConfig.fromJSON(value),
  ),
  GetTaskPushNotificationConfig: defineMethod(
    A2AService.getTaskPushNotificationConfig,
    sdk.GetTaskPushNotificationConfigRequest,
    (value: unknown) => sdk.TaskPushNotificationConfig.fromJSON(value),
  ),
  ListTaskPushNotificationConfigs: defineMethod(
    A2AService.listTaskPushNotificationConfigs,
    sdk.ListTaskPushNotificationConfigsRequest,
    (value: unknown) => sdk.ListTaskPushNotificationConfigsResponse.fromJSON(value),
  ),
  DeleteTaskPushNotificationConfig: defineMethod(
    A2AService.deleteTaskPushNotificationConfig,
    sdk.DeleteTaskPushNotificationConfigRequest,
    () => ({}),
  ),
  GetExtendedAgentCard: defineMethod(
    A2AService.getExtendedAgentCard,
    sdk.GetExtendedAgentCardRequest,
    (value: unknown) => sdk.AgentCard.fromJSON(value),
  ),
};

/** Service definition of A2A for a gRPC server. */
export const GRPC_SERVICE = GRPC_METHODS as unknown as ServiceDefinition;

interface SdkMethod<Request, Response> {
  path: string;
  responseStream: boolean;
  requestSerialize: (value: Request) => Buffer;
  requestDeserialize: (bytes: Buffer) => Request;
  responseSerialize: (value: Response) => Buffer;
  responseDeserialize: (bytes: Buffer) => Response;
}

function defineMethod<Request, Response, Value>(
  definition: SdkMethod<Request, Response>,
  codec: { toJSON(value: Request): unknown },
  encode: (value: Value) => Response,
  json: JsonPlaces = {},
): GrpcMethod {
  const { path, responseStream, requestDeserialize, responseSerialize } = definition;
  return {
    path,
    requestStream: false,
    responseStream,
    requestSerialize: definition.requestSerialize,
    requestDeserialize: (bytes) => ({
      readParams: (mostMembers) => {
        if (encodesMoreMembers(bytes, json, mostMembers)) throw tooManyMembersError(mostMembers);
        return decodeRequest(bytes, requestDeserialize, codec);
      },
    }),
    responseSerialize: (value) => responseSerialize(encode(value as Value)),
    responseDeserialize: definition.responseDeserialize,
  };
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decodeRequest<Request>(
  bytes: Buffer,
  decode: (bytes: Buffer) => Request,
  codec: { toJSON(value: Request): unknown },
): JsonObject {
  try {
    // The SDK's decoders also accept a reader. The default one would silently replace invalid UTF-8.
    const reader = new BinaryReader(bytes, (text) => UTF8.decode(text));
    return codec.toJSON(decode(reader as unknown as Buffer)) as JsonObject;
  } catch (error) {
    throw new A2AError('PARSE_ERROR', { message: 'The message is not one of the protocol', cause: error });
  }
}

function encodeList(value: { tasks: Task[] }): sdk.ListTasksResponse {
  const { tasks, ...page } = value;
  return { ...sdk.ListTasksResponse.fromJSON(page), tasks: tasks.map(encodeTask) };
}
