import type { JsonObject, StreamResponse } from '#libs/protocol';
import { type RestReply, rest, rpc, VERSION } from './a2a.js';
import { GrpcWire } from './grpc-wire.js';
import { SseReader } from './sse.js';
import {
  type Answer,
  type Endpoints,
  type Headers,
  type OpenStream,
  type WireBinding,
  wireError,
  WireFailure,
} from './wire-binding.js';

/** Returns clients of the three bindings of a service. */
export function bindingsOf(endpoints: () => Endpoints): WireBinding[] {
  return [new JsonRpc(endpoints), new Rest(endpoints), new GrpcWire(endpoints)];
}

function base({ url }: Endpoints, path: string): string {
  return path === '' ? `${url}/a2a` : `${url}/a2a/${path}`;
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

async function* mapped<T>(reader: SseReader<T>, of: (data: T) => StreamResponse): AsyncGenerator<StreamResponse> {
  for (;;) {
    const frame = await reader.next();
    if (frame === undefined) return;
    yield of(frame.data);
  }
}
