import {
  InvalidProtocolValue,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  readStreamItem,
  readStreamResponse,
  readTask,
  type SendMessageRequest,
  type StreamResponse,
  type Task,
} from '#libs/protocol';
import type { TaskWebhook } from '../agent-client.js';
import { type AgentAnswer, type AgentRequest, jsonObjectOf, openEvents } from '../agent-request.js';
import { errorOf } from '../call-failure.js';
import {
  type AgentTransport,
  type CallCredentials,
  callTraceHeaders,
  completedRequest,
  extensionsHeader,
  isAnsweredAtOnce,
  keyHeader,
  type PushConfigName,
  type TransportOptions,
} from './agent-transport.js';

/** Dialect of JSON-RPC that converts requests from A2A 1.0 and results to A2A 1.0. */
export interface JsonRpcDialect {
  /** Method in place of SendMessage; absent: SendMessage of A2A 1.0. */
  readonly sendMethod?: string;
  writeParams(params: JsonObject): JsonObject;
  /** Converts a result to A2A 1.0. @throws InvalidProtocolValue, AgentCallError */
  readResult(method: string, result: JsonObject): JsonObject;
}

export interface JsonRpcEndpoint {
  url: string;
  /** Tenant that the card names for this endpoint, sent with each request. */
  tenant?: string;
  /** Returns the next request id of this endpoint, unique over all its clients. */
  nextId: () => number;
  credentials?: CallCredentials;
}

/** Transport to an agent of A2A 1.x over JSON-RPC (section 9). */
export class JsonRpcTransport implements AgentTransport {
  readonly timeouts = {};
  readonly #url: URL;

  constructor(
    private readonly request: AgentRequest,
    private readonly endpoint: JsonRpcEndpoint,
    readonly streaming: boolean,
    private readonly dialect?: JsonRpcDialect,
  ) {
    this.#url = new URL(endpoint.url);
  }

  sendMessage(request: SendMessageRequest, options: TransportOptions): AsyncIterable<StreamResponse> {
    const params = completedRequest(request, isAnsweredAtOnce(request, this.streaming));
    if (this.streaming) return this.#requestStream('SendStreamingMessage', params, options);
    return this.#sendAlone(params, options);
  }

  postMessage(request: SendMessageRequest, options: TransportOptions): Promise<StreamResponse> {
    return this.#sendUnary(completedRequest(request, true), options);
  }

  subscribeToTask(taskId: string, options: TransportOptions): AsyncIterable<StreamResponse> {
    return this.#requestStream('SubscribeToTask', { id: taskId }, options);
  }

  async getTask(taskId: string, options: TransportOptions): Promise<Task> {
    return readTask(await this.#requestResult('GetTask', { id: taskId }, options));
  }

  async cancelTask(taskId: string, options: TransportOptions): Promise<Task> {
    return readTask(await this.#requestResult('CancelTask', { id: taskId }, options));
  }

  async createPushConfig(config: TaskWebhook, options: TransportOptions): Promise<void> {
    await this.#requestResult('CreateTaskPushNotificationConfig', config, options);
  }

  async deletePushConfig({ taskId, id }: PushConfigName, options: TransportOptions): Promise<void> {
    await this.#requestResult('DeleteTaskPushNotificationConfig', { taskId, id }, options);
  }

  async *#sendAlone(params: SendMessageRequest, options: TransportOptions): AsyncIterable<StreamResponse> {
    yield await this.#sendUnary(params, options);
  }

  async #sendUnary(params: SendMessageRequest, options: TransportOptions): Promise<StreamResponse> {
    return readStreamResponse(await this.#requestResult('SendMessage', params, options));
  }

  async #requestResult(method: string, params: object, options: TransportOptions): Promise<JsonValue | undefined> {
    const id = this.endpoint.nextId();
    const answer = await this.#postRequest({ method, params, id }, ASKING, options);
    const result = readRpcResult(await answer.readText(), id);
    return this.dialect && isJsonObject(result) ? this.dialect.readResult(method, result) : result;
  }

  async *#requestStream(method: string, params: object, options: TransportOptions): AsyncIterable<StreamResponse> {
    const id = this.endpoint.nextId();
    const answer = await this.#postRequest({ method, params, id }, STREAMING, options);
    const events = await openEvents(answer, (body) => readRpcResult(body, id));
    for await (const { data } of events) {
      const result = readRpcResult(data, id);
      const item = isJsonObject(result) ? readStreamItem(result) : readStreamResponse(result);
      if (item) yield item;
      else options.onSkipped?.();
    }
  }

  #postRequest(
    { method, params, id }: { method: string; params: object; id: number },
    headers: Record<string, string>,
    options: TransportOptions,
  ): Promise<AgentAnswer> {
    const { tenant } = this.endpoint;
    const { signal, alive, auth, place } = options;
    const fence = SENDING.test(method) ? options.fence : undefined;
    const { sendMethod } = this.dialect ?? {};
    const all = {
      ...options.headers,
      ...(sendMethod === undefined ? headers : UNVERSIONED),
      ...this.endpoint.credentials?.(options),
      ...callTraceHeaders(options),
      ...(SENDING.test(method) && keyHeader(options)),
      ...('message' in params && extensionsHeader(params as SendMessageRequest, options)),
    };
    const given = tenant && !('tenant' in params) ? { ...params, tenant } : params;
    const spoken = this.dialect?.writeParams(given as JsonObject) ?? given;
    const body = JSON.stringify({ jsonrpc: '2.0', method: sendMethod ?? method, params: spoken, id });
    return this.request({ url: this.#url, method: 'POST', headers: all, body, signal, alive, auth, fence, place });
  }
}

const SENDING = /^Send/;
const UNVERSIONED = { 'content-type': 'application/json', accept: 'application/json' };
const ASKING = { ...UNVERSIONED, 'a2a-version': '1.0' };
const STREAMING = { ...ASKING, accept: 'text/event-stream' };

/**
 * Reads the result of a JSON-RPC response; `undefined` if the response has none.
 * @throws AgentCallError if the response is an error
 * @throws InvalidProtocolValue if the response does not answer the request `id`
 */
function readRpcResult(body: string, id: number): JsonValue | undefined {
  const response = jsonObjectOf(body);
  if (response.jsonrpc !== '2.0') throw new InvalidProtocolValue('it is not a JSON-RPC 2.0 response');
  const error = errorOf(response);
  if (error !== undefined) throw error;
  if (response.id !== id && response.id !== String(id)) throw new InvalidProtocolValue('it answers another request');
  return response.result;
}
