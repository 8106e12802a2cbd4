import * as sdk from '@a2a-js/sdk';
import { A2AService } from '@a2a-js/sdk/server/grpc';
import { BinaryReader } from '@bufbuild/protobuf/wire';
import type { ServiceDefinition } from '@grpc/grpc-js';
import {
  A2AError,
  encodeSendMessageResponse,
  encodeStreamResponse,
  encodesMoreMembers,
  encodeTask,
  type JsonObject,
  MEMBERS_IN_CANCEL,
  MEMBERS_IN_SEND,
  type ProtoPlaces,
  type SendMessageResponse,
  type StreamResponse,
  type Task,
} from '#libs/protocol';
import type { OPERATIONS } from '../operations.js';
import { tooManyMembersError } from '../validation/request-parsers.js';

/** Received request. The handler decodes its bytes, and rejects an invalid request as other bindings do. */
export interface GrpcRequest {
  /**
   * Decodes the request to its parameters as ProtoJSON.
   * @throws A2AError PARSE_ERROR; INVALID_REQUEST if their JSON has more than `mostMembers` members
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
    MEMBERS_IN_SEND,
  ),
  SendStreamingMessage: defineMethod(
    A2AService.sendStreamingMessage,
    sdk.SendMessageRequest,
    (value: StreamResponse) => encodeStreamResponse(value),
    MEMBERS_IN_SEND,
  ),
  GetTask: defineMethod(A2AService.getTask, sdk.GetTaskRequest, (value: Task) => encodeTask(value)),
  ListTasks: defineMethod(A2AService.listTasks, { toJSON: listParams }, encodeList),
  CancelTask: defineMethod(
    A2AService.cancelTask,
    sdk.CancelTaskRequest,
    (value: Task) => encodeTask(value),
    MEMBERS_IN_CANCEL,
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
  members: ProtoPlaces = {},
): GrpcMethod {
  const { path, responseStream, requestDeserialize, responseSerialize } = definition;
  return {
    path,
    requestStream: false,
    responseStream,
    requestSerialize: definition.requestSerialize,
    requestDeserialize: (bytes) => ({
      readParams: (mostMembers) => {
        if (encodesMoreMembers(bytes, members, mostMembers)) throw tooManyMembersError(mostMembers);
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

/**
 * Returns the parameters of ListTasks. A page size of 0, which Go's client sends if its caller gave none, counts as
 * absent.
 */
function listParams(request: sdk.ListTasksRequest): unknown {
  return sdk.ListTasksRequest.toJSON(request.pageSize === 0 ? { ...request, pageSize: undefined } : request);
}

function encodeList(value: { tasks: Task[] }): sdk.ListTasksResponse {
  const { tasks, ...page } = value;
  return { ...sdk.ListTasksResponse.fromJSON(page), tasks: tasks.map(encodeTask) };
}
