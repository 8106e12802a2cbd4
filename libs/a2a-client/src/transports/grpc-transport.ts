import { type GrpcRequester, OutboundTooLongError } from '#libs/http-client';
import {
  InvalidProtocolValue,
  type JsonObject,
  readStreamItem,
  readStreamResponse,
  readTask,
  type SendMessageRequest,
  type StreamResponse,
  type Task,
} from '#libs/protocol';
import type { ContentLimits } from '#libs/service';
import { AgentCallError } from '../agent-call-error.js';
import type { TaskWebhook } from '../agent-client.js';
import { ANSWER_LIMIT_NAME, tooLongAnswer } from '../agent-request.js';
import { DEFAULT_TIMEOUTS } from '../call-deadlines.js';
import { grpcFailure } from '../grpc-failure.js';
import { applyProof } from '../request-signers.js';
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
import type { CalledGrpcMethod } from './grpc-messages.js';

/** Endpoint of an agent over gRPC. */
export interface GrpcEndpoint {
  /** Origin, as `grpcOrigin` reads it from the card. */
  origin: URL;
  /** Tenant that the card names for this endpoint, sent with each request. */
  tenant?: string;
  credentials?: CallCredentials;
}

/**
 * Limit for silence, in milliseconds. Streams of gRPC have no heartbeats. Besides events, only the answers to pings
 * show that the agent is there, and pings are at least five minutes apart.
 */
const IDLE_MS = 12 * 60_000;

/** Transport to an agent of A2A 1.0 over gRPC (section 10). */
export class GrpcTransport implements AgentTransport {
  readonly timeouts = { idle: IDLE_MS };

  constructor(
    private readonly request: GrpcRequester,
    private readonly endpoint: GrpcEndpoint,
    readonly streaming: boolean,
    /** Limits of one answer, or of one event of a stream. */
    private readonly limits: Pick<ContentLimits, 'answer' | 'jsonMembers'>,
  ) {}

  async *sendMessage(request: SendMessageRequest, options: TransportOptions): AsyncIterable<StreamResponse> {
    const completed = completedRequest(request, isAnsweredAtOnce(request, this.streaming));
    if (!this.streaming) return yield await this.#sendUnary(completed, options);
    const { sendStreamingMessage } = await loadMethods();
    yield* this.#requestStream(sendStreamingMessage, this.#addTenant(completed), sendingOf(request, options));
  }

  postMessage(request: SendMessageRequest, options: TransportOptions): Promise<StreamResponse> {
    return this.#sendUnary(completedRequest(request, true), options);
  }

  async *subscribeToTask(taskId: string, options: TransportOptions): AsyncIterable<StreamResponse> {
    const { subscribeToTask } = await loadMethods();
    yield* this.#requestStream(subscribeToTask, this.#taskRequest(taskId), { options });
  }

  async getTask(taskId: string, options: TransportOptions): Promise<Task> {
    const { getTask } = await loadMethods();
    return readTask(await this.#requestOne(getTask, this.#taskRequest(taskId), { options }));
  }

  async cancelTask(taskId: string, options: TransportOptions): Promise<Task> {
    const { cancelTask } = await loadMethods();
    return readTask(await this.#requestOne(cancelTask, this.#taskRequest(taskId), { options }));
  }

  async createPushConfig(config: TaskWebhook, options: TransportOptions): Promise<void> {
    const { createPushConfig } = await loadMethods();
    const request = { tenant: this.endpoint.tenant ?? '', authentication: undefined, ...config };
    await this.#requestOne(createPushConfig, request, { options });
  }

  async deletePushConfig({ taskId, id }: PushConfigName, options: TransportOptions): Promise<void> {
    const { deletePushConfig } = await loadMethods();
    await this.#requestOne(deletePushConfig, { tenant: this.endpoint.tenant ?? '', taskId, id }, { options });
  }

  async #sendUnary(request: SendMessageRequest, options: TransportOptions): Promise<StreamResponse> {
    const { sendMessage } = await loadMethods();
    const sending = sendingOf(request, options);
    return readStreamResponse(await this.#requestOne(sendMessage, this.#addTenant(request), sending));
  }

  #addTenant(request: SendMessageRequest): SendMessageRequest {
    const { tenant } = this.endpoint;
    return tenant && !request.tenant ? { ...request, tenant } : request;
  }

  #taskRequest(id: string): { tenant: string; id: string } {
    return { tenant: this.endpoint.tenant ?? '', id };
  }

  async *#requestStream<Request>(
    method: CalledGrpcMethod<Request>,
    request: Request,
    call: MadeCall,
  ): AsyncIterable<StreamResponse> {
    for await (const json of this.#requestAnswers(method, request, call)) {
      const item = readStreamItem(json);
      if (item) yield item;
      else call.options.onSkipped?.();
    }
  }

  async #requestOne<Request>(method: CalledGrpcMethod<Request>, request: Request, call: MadeCall): Promise<JsonObject> {
    let answer: JsonObject | undefined;
    for await (const json of this.#requestAnswers(method, request, call)) answer ??= json;
    if (answer === undefined) throw new InvalidProtocolValue('it has no message');
    return answer;
  }

  async *#requestAnswers<Request>(
    method: CalledGrpcMethod<Request>,
    request: Request,
    { options, sending }: MadeCall,
  ): AsyncIterable<JsonObject> {
    const { signal, alive, place, timeouts } = options;
    const message = method.encodeRequest(request);
    const gate = (sending && (await options.fence?.())) ?? undefined;
    const messages = this.request({
      ...this.#addProof(
        { ...VERSION, ...this.endpoint.credentials?.(options), ...callTraceHeaders(options), ...sending },
        options,
      ),
      path: method.path,
      message,
      gate,
      maxBytes: this.limits.answer,
      deadlineMs: timeouts?.total ?? DEFAULT_TIMEOUTS.total,
      signal,
      alive,
      countRead: place && ((bytes) => place.countRead(bytes, signal)),
      setPending: place && ((bytes) => place.setPending(bytes)),
    });
    try {
      for await (const bytes of messages) yield method.readAnswer(bytes, this.limits.jsonMembers);
    } catch (error) {
      if (error instanceof OutboundTooLongError) throw tooLongAnswer(error.maxBytes, ANSWER_LIMIT_NAME);
      throw grpcFailure(error, { sentBytes: message.byteLength });
    }
  }

  /**
   * Returns the URL and the metadata of a call, with the headers of its RequestAuth added; without a RequestAuth the
   * metadata is unchanged.
   * @throws AgentCallError `credential` for query parameters, which gRPC cannot carry
   */
  #addProof(
    metadata: Record<string, string>,
    { auth }: TransportOptions,
  ): { url: URL; metadata: Record<string, string> } {
    const url = this.endpoint.origin;
    if (auth === undefined) return { url, metadata };
    if (Object.keys(auth.query).length > 0)
      throw new AgentCallError('credential', 'the credential belongs in the query of a URL, which gRPC has not');
    return { url, metadata: applyProof(auth, url, metadata).headers };
  }
}

/** Options of one call, and the metadata that only calls with a Message have. */
interface MadeCall {
  options: TransportOptions;
  /** Metadata of the request, if the call sends a Message; absent for other calls. */
  sending?: Record<string, string>;
}

const VERSION = { 'a2a-version': '1.0' };

function sendingOf(request: SendMessageRequest, options: TransportOptions): MadeCall {
  return { options, sending: { ...extensionsHeader(request, options), ...keyHeader(options) } };
}

/** Loads the compiled protocol, which only callers of gRPC agents need. */
async function loadMethods(): Promise<typeof import('./grpc-messages.js').METHODS> {
  return (await import('./grpc-messages.js')).METHODS;
}

const SCHEMES: Readonly<Record<string, string>> = { http: 'http', grpc: 'http', https: 'https', grpcs: 'https' };
/** Pattern of the targets that gRPC clients dial: a host with or without a port, and before it at most `dns:///`. */
const TARGET = /^(?:dns:(?:\/\/\/)?)?(\[[\da-f:.]+\]|[^\s/:?#@[\]\\]+)(?::(\d{1,5}))?\/?$/i;
const TLS_PORT = '443';

/**
 * Returns the origin of a gRPC interface's URL in a card; `undefined` if the URL is invalid or has a password.
 *
 * - `https://` and `grpcs://` use TLS; `http://` and `grpc://` do not. The path is not used: gRPC has paths of its own.
 * - `host:port`, as the SDKs' gRPC clients dial it, uses TLS if the port is 443 or absent.
 */
export function grpcOrigin(url: string): URL | undefined {
  const scheme = /^([a-z]+):\/\/(?!\/)/i.exec(url)?.[1]?.toLowerCase() ?? '';
  if (Object.hasOwn(SCHEMES, scheme)) return parsedOrigin(`${SCHEMES[scheme]}${url.slice(scheme.length)}`);
  const [, host, port = TLS_PORT] = TARGET.exec(url) ?? [];
  if (host === undefined) return undefined;
  return parsedOrigin(`${port === TLS_PORT ? 'https' : 'http'}://${host}:${port}`);
}

function parsedOrigin(url: string): URL | undefined {
  if (!URL.canParse(url)) return undefined;
  const { origin, username, password } = new URL(url);
  return username === '' && password === '' ? new URL(origin) : undefined;
}
