import * as sdk from '@a2a-js/sdk';
import { A2AService } from '@a2a-js/sdk/server/grpc';
import { BinaryReader } from '@bufbuild/protobuf/wire';
import {
  encodeSendMessageRequest,
  encodesMoreMembers,
  InvalidProtocolValue,
  type JsonObject,
  MEMBERS_IN_RESPONSE,
  MEMBERS_IN_TASK,
  type ProtoPlaces,
  type SendMessageRequest,
  unfitValue,
} from '#libs/protocol';
import { AgentCallError } from '../agent-call-error.js';
import { DEEPEST_ANSWER, tooManyAnswerMembers } from '../agent-request.js';

/** Method of A2A 1.0 over gRPC that this client calls. */
export interface CalledGrpcMethod<Request> {
  readonly path: string;
  encodeRequest(request: Request): Uint8Array;
  /**
   * Decodes a protobuf message of the answer to ProtoJSON.
   * @throws AgentCallError `invalid-response` if it has more than `mostMembers` members, or a value that JSON cannot
   *   express or that is nested too deeply
   * @throws InvalidProtocolValue if the bytes are not such a message
   */
  readAnswer(bytes: Uint8Array, mostMembers: number): JsonObject;
}

interface GrpcTaskRequest {
  tenant: string;
  id: string;
}

/** Methods of `a2a.proto` as compiled by the official SDK. */
export const METHODS = {
  sendMessage: defineMethod(
    A2AService.sendMessage,
    (request: SendMessageRequest) => encodeSendMessageRequest(request),
    sdk.SendMessageResponse,
    MEMBERS_IN_RESPONSE,
  ),
  sendStreamingMessage: defineMethod(
    A2AService.sendStreamingMessage,
    (request: SendMessageRequest) => encodeSendMessageRequest(request),
    sdk.StreamResponse,
    MEMBERS_IN_RESPONSE,
  ),
  subscribeToTask: defineMethod(
    A2AService.subscribeToTask,
    (request: GrpcTaskRequest) => request,
    sdk.StreamResponse,
    MEMBERS_IN_RESPONSE,
  ),
  getTask: defineMethod(
    A2AService.getTask,
    (request: GrpcTaskRequest) => ({ ...request, historyLength: undefined }),
    sdk.Task,
    MEMBERS_IN_TASK,
  ),
  cancelTask: defineMethod(
    A2AService.cancelTask,
    (request: GrpcTaskRequest) => ({ ...request, metadata: undefined }),
    sdk.Task,
    MEMBERS_IN_TASK,
  ),
  createPushConfig: defineMethod(
    A2AService.createTaskPushNotificationConfig,
    (request: sdk.TaskPushNotificationConfig) => request,
    sdk.TaskPushNotificationConfig,
    {},
  ),
  deletePushConfig: defineMethod(
    A2AService.deleteTaskPushNotificationConfig,
    (request: sdk.DeleteTaskPushNotificationConfigRequest) => request,
    { toJSON: () => ({}) },
    {},
  ),
};

interface SdkClientMethod<Encoded, Answer> {
  path: string;
  requestSerialize: (value: Encoded) => Buffer;
  responseDeserialize: (bytes: Buffer) => Answer;
}

function defineMethod<Request, Encoded, Answer>(
  { path, requestSerialize, responseDeserialize }: SdkClientMethod<Encoded, Answer>,
  encode: (request: Request) => Encoded,
  codec: { toJSON(value: Answer): unknown },
  members: ProtoPlaces,
): CalledGrpcMethod<Request> {
  return {
    path,
    encodeRequest: (request) => requestSerialize(encode(request)),
    readAnswer: (bytes, mostMembers) => {
      if (encodesMoreMembers(bytes, members, mostMembers)) throw tooManyAnswerMembers(mostMembers);
      return requireFit(decodeAnswer(bytes, responseDeserialize, codec));
    },
  };
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decodeAnswer<Answer>(
  bytes: Uint8Array,
  decode: (bytes: Buffer) => Answer,
  codec: { toJSON(value: Answer): unknown },
): JsonObject {
  try {
    // The SDK's decoders also accept a reader. The default one would silently replace invalid UTF-8.
    const reader = new BinaryReader(bytes, (text) => UTF8.decode(text));
    return codec.toJSON(decode(reader as unknown as Buffer)) as JsonObject;
  } catch {
    throw new InvalidProtocolValue('its message is not one of the protocol');
  }
}

function requireFit(answer: JsonObject): JsonObject {
  const unfit = unfitValue(answer, DEEPEST_ANSWER);
  if (unfit === undefined) return answer;
  throw new AgentCallError('invalid-response', `the agent's answer is not A2A: ${unfit.message}`, { cause: unfit });
}
