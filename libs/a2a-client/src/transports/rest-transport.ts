import {
  A2A_ERRORS,
  readStreamItem,
  readStreamResponse,
  readTask,
  type SendMessageRequest,
  type StreamResponse,
  type Task,
  withoutTrailing,
} from '#libs/protocol';
import type { AgentCallError } from '../agent-call-error.js';
import { type AgentAnswer, type AgentRequest, eventsOf, jsonObjectOf } from '../agent-request.js';
import { errorOf, errorText, rpcFailure } from '../call-failure.js';
import {
  type AgentTransport,
  type CallCredentials,
  callTraceHeaders,
  completedRequest,
  isAnsweredAtOnce,
  keyHeader,
  type TransportOptions,
} from './agent-transport.js';

/** Transport to an agent of A2A 1.x over HTTP+JSON (section 11). */
export class RestTransport implements AgentTransport {
  readonly timeouts = {};

  constructor(
    private readonly request: AgentRequest,
    private readonly endpoint: { url: string; tenant?: string; credentials?: CallCredentials },
    readonly streaming: boolean,
  ) {}

  async *sendMessage(request: SendMessageRequest, options: TransportOptions): AsyncIterable<StreamResponse> {
    const completed = completedRequest(request, isAnsweredAtOnce(request, this.streaming));
    if (this.streaming)
      yield* this.#requestStream('/message:stream', options, request.tenant, JSON.stringify(completed));
    else yield await this.#sendUnary(completed, options);
  }

  postMessage(request: SendMessageRequest, options: TransportOptions): Promise<StreamResponse> {
    return this.#sendUnary(completedRequest(request, true), options);
  }

  subscribeToTask(taskId: string, options: TransportOptions): AsyncIterable<StreamResponse> {
    return this.#requestStream(`${taskPath(taskId)}:subscribe`, options);
  }

  async getTask(taskId: string, options: TransportOptions): Promise<Task> {
    return readTask(await this.#requestJson('GET', taskPath(taskId), options));
  }

  async cancelTask(taskId: string, options: TransportOptions): Promise<Task> {
    return readTask(await this.#requestJson('POST', `${taskPath(taskId)}:cancel`, options, undefined, '{}'));
  }

  async #sendUnary(request: SendMessageRequest, options: TransportOptions): Promise<StreamResponse> {
    return readStreamResponse(
      await this.#requestJson('POST', '/message:send', options, request.tenant, JSON.stringify(request)),
    );
  }

  async #requestJson(method: 'GET' | 'POST', path: string, options: TransportOptions, tenant?: string, body?: string) {
    const answer = await this.#sendRequest(method, path, { accept: JSON_TYPES, options, tenant, body });
    return jsonObjectOf(await answer.readText());
  }

  async *#requestStream(
    path: string,
    options: TransportOptions,
    tenant?: string,
    body?: string,
  ): AsyncIterable<StreamResponse> {
    const answer = await this.#sendRequest('POST', path, { accept: 'text/event-stream', options, tenant, body });
    for await (const { type, data } of eventsOf(answer, refuseError)) {
      if (type === 'error') throw streamFailure(data);
      const item = readStreamItem(jsonObjectOf(data));
      if (item) yield item;
    }
  }

  #sendRequest(
    method: 'GET' | 'POST',
    path: string,
    call: { accept: string; options: TransportOptions; tenant?: string; body?: string },
  ): Promise<AgentAnswer> {
    const { accept, body } = call;
    const { signal, alive, auth, place } = call.options;
    const sending = path.startsWith('/message:');
    const key = sending ? keyHeader(call.options) : undefined;
    const fence = sending ? call.options.fence : undefined;
    const tenant = call.tenant || this.endpoint.tenant;
    const base = withoutTrailing(this.endpoint.url, '/') + (tenant ? `/${encodeURIComponent(tenant)}` : '');
    const url = new URL(base + path);
    const credentials = this.endpoint.credentials?.(call.options);
    const headers: Record<string, string> = {
      accept,
      'a2a-version': '1.0',
      ...credentials,
      ...callTraceHeaders(call.options),
      ...key,
    };
    if (body !== undefined) headers['content-type'] = 'application/json';
    return this.request({ url, method, headers, body, signal, alive, auth, fence, place });
  }
}

const JSON_TYPES = 'application/a2a+json, application/json';

function taskPath(taskId: string): string {
  return `/tasks/${encodeURIComponent(taskId)}`;
}

/** Rejects a plain answer that is an error despite its status. @throws AgentCallError */
function refuseError(body: string): void {
  const error = errorOf(jsonObjectOf(body));
  if (error !== undefined) throw error;
}

/** Creates the failure for an `error` event of a stream. */
function streamFailure(data: string): AgentCallError {
  const body = jsonObjectOf(data);
  return errorOf(body) ?? rpcFailure(A2A_ERRORS.INTERNAL.code, errorText(body));
}
