import * as sdk from '@a2a-js/sdk';
import { decodeErrorInfo, decodeStatus } from '@a2a-js/sdk/errors/grpc';
import { A2AService } from '@a2a-js/sdk/server/grpc';
import * as grpc from '@grpc/grpc-js';
import type { JsonObject, StreamResponse } from '#libs/protocol';
import { VERSION } from './a2a.js';
import {
  type Answer,
  type Endpoints,
  type Headers,
  type OpenStream,
  type WireBinding,
  type WireError,
  wireError,
  WireFailure,
} from './wire-binding.js';

interface Codec {
  toJSON(value: unknown): unknown;
  fromJSON(json: unknown): unknown;
}

const MESSAGES: Readonly<Record<string, [request: Codec, response: Codec]>> = {
  SendMessage: [sdk.SendMessageRequest, sdk.SendMessageResponse] as never,
  SendStreamingMessage: [sdk.SendMessageRequest, sdk.StreamResponse] as never,
  GetTask: [sdk.GetTaskRequest, sdk.Task] as never,
  ListTasks: [sdk.ListTasksRequest, sdk.ListTasksResponse] as never,
  CancelTask: [sdk.CancelTaskRequest, sdk.Task] as never,
  SubscribeToTask: [sdk.SubscribeToTaskRequest, sdk.StreamResponse] as never,
  CreateTaskPushNotificationConfig: [sdk.TaskPushNotificationConfig, sdk.TaskPushNotificationConfig] as never,
  GetTaskPushNotificationConfig: [sdk.GetTaskPushNotificationConfigRequest, sdk.TaskPushNotificationConfig] as never,
  ListTaskPushNotificationConfigs: [
    sdk.ListTaskPushNotificationConfigsRequest,
    sdk.ListTaskPushNotificationConfigsResponse,
  ] as never,
  DeleteTaskPushNotificationConfig: [
    sdk.DeleteTaskPushNotificationConfigRequest,
    { toJSON: () => ({}), fromJSON: () => ({}) },
  ] as never,
  GetExtendedAgentCard: [sdk.GetExtendedAgentCardRequest, sdk.AgentCard] as never,
};

export interface GrpcRefusal {
  code: grpc.status;
  details: string;
  metadata: string[];
}

/** Client of A2A 1.0 over gRPC, without Parley's own code. */
export class GrpcWire implements WireBinding {
  readonly name = 'GRPC';
  constructor(private readonly endpoints: () => Endpoints) {}

  call<T>(path: string, operation: string, params: JsonObject, headers: Headers = {}): Promise<Answer<T>> {
    const client = new grpc.Client(this.endpoints().grpc, grpc.credentials.createInsecure());
    const { method, request, response } = this.method(operation);
    let extensions: string | undefined;
    return new Promise<Answer<T>>((resolve) => {
      const call = client.makeUnaryRequest(
        method.path,
        method.requestSerialize as (value: unknown) => Buffer,
        method.responseDeserialize,
        encoded(request, addressed(path, params)),
        metadataOf(headers),
        (error, value) => {
          if (error) resolve({ error: grpcFailure(error), extensions });
          else resolve({ result: response.toJSON(value) as T, extensions });
        },
      );
      call.on('metadata', (metadata) => (extensions = metadata.get('a2a-extensions')[0]?.toString()));
    }).finally(() => client.close());
  }

  async open(path: string, operation: string, params: JsonObject, headers: Headers = {}): Promise<OpenStream> {
    const client = new grpc.Client(this.endpoints().grpc, grpc.credentials.createInsecure());
    const { method, request, response } = this.method(operation);
    const call = client.makeServerStreamRequest(
      method.path,
      method.requestSerialize as (value: unknown) => Buffer,
      method.responseDeserialize,
      encoded(request, addressed(path, params)),
      metadataOf(headers),
    );
    call.once('close', () => client.close());
    const items = call[Symbol.asyncIterator]();
    const first = await items.next().catch((error: grpc.ServiceError) => {
      throw new WireFailure(grpcFailure(error));
    });
    const decode = (value: unknown): StreamResponse => response.toJSON(value) as unknown as StreamResponse;
    async function* all(): AsyncGenerator<StreamResponse> {
      for (let item = first; !item.done; item = await items.next()) yield decode(item.value);
    }
    return { items: all(), leave: () => call.on('error', () => undefined).cancel() };
  }

  /** Returns the status with which a call is refused; code 0 if it succeeds. */
  refusal(path: string, operation: string, params: JsonObject, headers: Headers = {}): Promise<GrpcRefusal> {
    const client = new grpc.Client(this.endpoints().grpc, grpc.credentials.createInsecure());
    const { method, request } = this.method(operation);
    // A call for a stream reads a single answer as well.
    const call = client.makeServerStreamRequest(
      method.path,
      method.requestSerialize as (value: unknown) => Buffer,
      (bytes) => bytes,
      encoded(request, addressed(path, params)),
      metadataOf(headers),
    );
    return new Promise<GrpcRefusal>((resolve) => {
      call.on('error', ({ code, details, metadata }: grpc.ServiceError) => {
        const all = Object.keys(metadata.getMap()).filter((key) => key !== 'date');
        const values = all.flatMap((key) => metadata.get(key).map((it) => `${key}: ${it.toString('latin1')}`));
        resolve({ code, details, metadata: values });
      });
      call.resume().on('end', () => resolve({ code: grpc.status.OK, details: 'answered', metadata: [] }));
    }).finally(() => client.close());
  }

  private method(operation: string) {
    const name = `${operation[0]?.toLowerCase()}${operation.slice(1)}` as keyof typeof A2AService;
    const [request, response] = MESSAGES[operation] as [Codec, Codec];
    return { method: A2AService[name], request, response };
  }
}

/**
 * Adds the `tenant` of an agent to the parameters: its path. At the service itself the caller may choose the tenant.
 */
function addressed(path: string, params: JsonObject): JsonObject {
  return path === '' ? params : { ...params, tenant: path };
}

/** Encodes parameters. The SDK's encoder reads `data: null` as no content, so it is added separately. */
function encoded(request: Codec, params: JsonObject): unknown {
  const value = request.fromJSON(params) as { message?: sdk.Message };
  const { parts } = (params.message ?? {}) as { parts?: { data?: unknown }[] };
  if (Array.isArray(parts)) {
    parts.forEach((part, index) => {
      const target = value.message?.parts[index];
      if (part.data === null && target) target.content = { $case: 'data', value: null };
    });
  }
  return value;
}

function metadataOf(headers: Headers): grpc.Metadata {
  const metadata = new grpc.Metadata();
  for (const [key, value] of Object.entries({ ...VERSION, ...headers })) if (value !== '') metadata.set(key, value);
  return metadata;
}

export function grpcFailure(error: grpc.ServiceError): WireError {
  const [bytes] = error.metadata?.get('grpc-status-details-bin') ?? [];
  if (!Buffer.isBuffer(bytes)) return wireError(error.code, error.details);
  const { message, details } = decodeStatus(bytes);
  return wireError(
    error.code,
    message,
    details.map(({ typeUrl, value }): JsonObject => {
      if (typeUrl.endsWith('.ErrorInfo')) return { ...decodeErrorInfo(Buffer.from(value)), '@type': typeUrl };
      return { '@type': typeUrl, fieldViolations: violationsOf(Buffer.from(value)) };
    }),
  );
}

/** Decodes a google.rpc.BadRequest, whose only field contains pairs of short texts. */
function violationsOf(bytes: Buffer): { field: string; description: string }[] {
  return fields(bytes).map((violation) => {
    const [field = Buffer.alloc(0), description = Buffer.alloc(0)] = fields(violation);
    return { field: field.toString(), description: description.toString() };
  });
}

/** Returns the values of the length-delimited fields of a protobuf message. */
function fields(bytes: Buffer): Buffer[] {
  const values: Buffer[] = [];
  let at = 0;
  while (at < bytes.length) {
    at += 1;
    let length = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++] ?? 0;
      length |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    values.push(bytes.subarray(at, at + length));
    at += length;
  }
  return values;
}
