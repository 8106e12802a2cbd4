import * as sdk from '@a2a-js/sdk';
import { decodeErrorInfo, decodeStatus } from '@a2a-js/sdk/errors/grpc';
import { A2AService } from '@a2a-js/sdk/server/grpc';
import * as grpc from '@grpc/grpc-js';
import type { JsonObject, StreamResponse } from '#libs/protocol';
import { type RestReply, rest, rpc, VERSION } from './a2a.js';
import { SseReader } from './sse.js';

/** Where a service's agents are reached. */
export interface Endpoints {
  /** Without a slash at the end. */
  url: string;
  /** `host:port` of gRPC. */
  grpc: string;
}

export interface WireError {
  /** The binding's own number: of JSON-RPC, of HTTP, or of gRPC. */
  code: number;
  message: string;
  reason?: string;
  domain?: string;
  /** The names of the fields that are blamed. */
  fields: string[];
}

export interface Answer<T = JsonObject> {
  result?: T;
  error?: WireError;
  /** The `a2a-extensions` of the answer. */
  extensions?: string;
}

export interface OpenStream {
  items: AsyncIterable<StreamResponse>;
  /** Leaves without a word. */
  leave(): void;
}

/** One binding of A2A 1.0, driven from outside. Paths are those below `/a2a`; `''` is the service. */
export interface WireBinding {
  readonly name: 'JSONRPC' | 'HTTP+JSON' | 'GRPC';
  call<T = JsonObject>(path: string, operation: string, params: JsonObject, headers?: Headers): Promise<Answer<T>>;
  /** @throws WireFailure where it is refused */
  open(path: string, operation: string, params: JsonObject, headers?: Headers): Promise<OpenStream>;
}

type Headers = Record<string, string>;

export class WireFailure extends Error {
  constructor(readonly error: WireError) {
    super(error.message);
  }
}

/** The three bindings of a service. */
export function bindingsOf(endpoints: () => Endpoints): WireBinding[] {
  return [new JsonRpc(endpoints), new Rest(endpoints), new Grpc(endpoints)];
}

function base({ url }: Endpoints, path: string): string {
  return path === '' ? `${url}/a2a` : `${url}/a2a/${path}`;
}

function wireError(code: number, message: string, details: JsonObject[] = []): WireError {
  const of = (type: string) => details.find((it) => String(it['@type']).endsWith(type));
  const info = of('.ErrorInfo') as { reason: string; domain: string } | undefined;
  const violations = of('.BadRequest')?.fieldViolations as { field: string }[] | undefined;
  return {
    code,
    message,
    reason: info?.reason,
    domain: info?.domain,
    fields: (violations ?? []).map((it) => it.field).toSorted(),
  };
}

class JsonRpc implements WireBinding {
  readonly name = 'JSONRPC';
  constructor(private readonly endpoints: () => Endpoints) {}

  async call<T>(path: string, operation: string, params: JsonObject, headers: Headers = {}): Promise<Answer<T>> {
    const reply = await rpc<T>(base(this.endpoints(), path), operation, params, { headers });
    const { result, error } = reply.body;
    const extensions = reply.headers.get('a2a-extensions') ?? undefined;
    return { result, error: error && wireError(error.code, error.message, error.data), extensions };
  }

  async open(path: string, operation: string, params: JsonObject, headers: Headers = {}): Promise<OpenStream> {
    const reader = await SseReader.open<{ result: StreamResponse; error?: never }>(base(this.endpoints(), path), {
      method: 'POST',
      headers: { ...VERSION, ...headers },
      body: { jsonrpc: '2.0', id: 1, method: operation, params },
    }).catch(async (error: unknown) => {
      const answer = await this.call(path, operation, params, headers);
      throw answer.error ? new WireFailure(answer.error) : error;
    });
    return { items: mapped(reader, ({ result }) => result), leave: () => reader.abort() };
  }
}

type Route = [method: string, path: (params: JsonObject) => string, where: 'body' | 'query'];
const id = ({ id: it }: JsonObject): string => encodeURIComponent(String(it ?? ''));
const taskId = ({ taskId: it }: JsonObject): string => encodeURIComponent(String(it ?? ''));

const ROUTES: Readonly<Record<string, Route>> = {
  SendMessage: ['POST', () => '/message:send', 'body'],
  SendStreamingMessage: ['POST', () => '/message:stream', 'body'],
  GetTask: ['GET', (it) => `/tasks/${id(it)}`, 'query'],
  ListTasks: ['GET', () => '/tasks', 'query'],
  CancelTask: ['POST', (it) => `/tasks/${id(it)}:cancel`, 'body'],
  SubscribeToTask: ['POST', (it) => `/tasks/${id(it)}:subscribe`, 'body'],
  CreateTaskPushNotificationConfig: ['POST', (it) => `/tasks/${taskId(it)}/pushNotificationConfigs`, 'body'],
  GetTaskPushNotificationConfig: ['GET', (it) => `/tasks/${taskId(it)}/pushNotificationConfigs/${id(it)}`, 'query'],
  ListTaskPushNotificationConfigs: ['GET', (it) => `/tasks/${taskId(it)}/pushNotificationConfigs`, 'query'],
  DeleteTaskPushNotificationConfig: [
    'DELETE',
    (it) => `/tasks/${taskId(it)}/pushNotificationConfigs/${id(it)}`,
    'query',
  ],
  GetExtendedAgentCard: ['GET', () => '/extendedAgentCard', 'query'],
};

class Rest implements WireBinding {
  readonly name = 'HTTP+JSON';
  constructor(private readonly endpoints: () => Endpoints) {}

  async call<T>(path: string, operation: string, params: JsonObject, headers: Headers = {}): Promise<Answer<T>> {
    const { method, url, body } = this.request(operation, params);
    const reply = (await rest(base(this.endpoints(), path), method, url, { headers, body })) as RestReply<JsonObject>;
    const extensions = reply.headers.get('a2a-extensions') ?? undefined;
    const { error } = reply.body as { error?: { code: number; message: string; details?: JsonObject[] } };
    if (error) return { error: wireError(error.code, error.message, error.details), extensions };
    return { result: reply.body as T, extensions };
  }

  async open(path: string, operation: string, params: JsonObject, headers: Headers = {}): Promise<OpenStream> {
    const { method, url, body } = this.request(operation, params);
    const reader = await SseReader.open<StreamResponse>(`${base(this.endpoints(), path)}${url}`, {
      method: method as 'POST',
      headers: { ...VERSION, ...headers },
      ...(body !== undefined && { body }),
    }).catch(async (error: unknown) => {
      const answer = await this.call(path, operation, params, headers);
      throw answer.error ? new WireFailure(answer.error) : error;
    });
    return { items: mapped(reader, (it) => it), leave: () => reader.abort() };
  }

  private request(operation: string, params: JsonObject): { method: string; url: string; body?: JsonObject } {
    const [method, pathOf, where] = ROUTES[operation] as Route;
    const { tenant, ...others } = params;
    const url = `${tenant === undefined ? '' : `/${String(tenant)}`}${pathOf(params)}`;
    if (where === 'body') return { method, url, body: others };
    const { id: _id, taskId: _taskId, ...query } = others;
    const text = new URLSearchParams(query as Record<string, string>).toString();
    return { method, url: text === '' ? url : `${url}?${text}` };
  }
}

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

class Grpc implements WireBinding {
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

  private method(operation: string) {
    const name = `${operation[0]?.toLowerCase()}${operation.slice(1)}` as keyof typeof A2AService;
    const [request, response] = MESSAGES[operation] as [Codec, Codec];
    return { method: A2AService[name], request, response };
  }
}

/** The `tenant` of an agent's gRPC interface is its path; at the service it is free for the caller. */
function addressed(path: string, params: JsonObject): JsonObject {
  return path === '' ? params : { ...params, tenant: path };
}

/** The SDK's reader takes `data: null` for no content. */
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

/** google.rpc.BadRequest, whose only field holds pairs of texts shorter than 128 bytes or a little more. */
function violationsOf(bytes: Buffer): { field: string; description: string }[] {
  return fields(bytes).map((violation) => {
    const [field = Buffer.alloc(0), description = Buffer.alloc(0)] = fields(violation);
    return { field: field.toString(), description: description.toString() };
  });
}

/** The values of a protobuf message that has fields with a length only. */
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

async function* mapped<T>(reader: SseReader<T>, of: (data: T) => StreamResponse): AsyncGenerator<StreamResponse> {
  for (;;) {
    const frame = await reader.next();
    if (frame === undefined) return;
    yield of(frame.data);
  }
}
