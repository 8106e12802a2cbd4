import type { AgentCard as SdkAgentCard } from '@a2a-js/sdk';
import { LRUCache } from 'lru-cache';
import {
  A2A_ERRORS,
  briefText,
  isJsonObject,
  type JsonObject,
  readStreamItem,
  readStreamResponse,
  readTask,
  type SendMessageRequest,
  type StreamResponse,
  type Task,
  withoutTrailing,
} from '#libs/protocol';
import type { OutboundCall } from '#libs/http-client';
import { type AgentBinding, type ContentLimits, DEFAULT_CONTENT_LIMITS } from '#libs/service';
import { AgentCallError } from '../agent-call-error.js';
import { sdkCalledCard, type TaskWebhook } from '../agent-client.js';
import {
  type AgentAnswer,
  type AgentHttp,
  type AgentRequest,
  agentRequest,
  fetchRequester,
  jsonObjectOf,
  openEvents,
} from '../agent-request.js';
import { errorOf, errorText, rpcFailure } from '../call-failure.js';
import { type RequestSigners, type RequiredSecurity, securityOf } from '../request-signers.js';
import { agentFetch } from '../v0-3/agent-fetch.js';
import { LegacyClients, SdkTransport } from '../v0-3/sdk-transport.js';
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
import { DialectTransport, type SpokenDialect, SpokenDialects } from './dialect-transport.js';
import { FileOpeningTransport, type OutgoingFiles } from './file-opening-transport.js';
import { grpcOrigin, GrpcTransport } from './grpc-transport.js';
import { type JsonRpcDialect, type JsonRpcEndpoint, JsonRpcTransport } from './json-rpc-transport.js';
import { SigningTransport } from './signing-transport.js';

/** Transport to an agent of A2A 1.x over HTTP+JSON (section 11). */
class RestTransport implements AgentTransport {
  readonly timeouts = {};

  constructor(
    private readonly request: AgentRequest,
    private readonly endpoint: { url: string; tenant?: string; credentials?: CallCredentials },
    readonly streaming: boolean,
  ) {}

  sendMessage(request: SendMessageRequest, options: TransportOptions): AsyncIterable<StreamResponse> {
    const completed = completedRequest(request, isAnsweredAtOnce(request, this.streaming));
    if (this.streaming) return this.#requestStream('/message:stream', options, completed);
    return this.#sendAlone(completed, options);
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
    return readTask(await this.#requestJson('POST', `${taskPath(taskId)}:cancel`, options, {}));
  }

  async createPushConfig(config: TaskWebhook, options: TransportOptions): Promise<void> {
    await this.#requestJson('POST', `${taskPath(config.taskId)}/pushNotificationConfigs`, options, config);
  }

  async deletePushConfig({ taskId, id }: PushConfigName, options: TransportOptions): Promise<void> {
    const path = `${taskPath(taskId)}/pushNotificationConfigs/${encodeURIComponent(id)}`;
    const answer = await this.#sendRequest('DELETE', path, { accept: JSON_TYPES, options });
    await answer.readText();
  }

  async *#sendAlone(request: SendMessageRequest, options: TransportOptions): AsyncIterable<StreamResponse> {
    yield await this.#sendUnary(request, options);
  }

  async #sendUnary(request: SendMessageRequest, options: TransportOptions): Promise<StreamResponse> {
    return readStreamResponse(await this.#requestJson('POST', '/message:send', options, request));
  }

  async #requestJson(method: 'GET' | 'POST', path: string, options: TransportOptions, body?: object) {
    const answer = await this.#sendRequest(method, path, { accept: JSON_TYPES, options, body });
    return jsonObjectOf(await answer.readText());
  }

  async *#requestStream(path: string, options: TransportOptions, body?: object): AsyncIterable<StreamResponse> {
    const answer = await this.#sendRequest('POST', path, { accept: 'text/event-stream', options, body });
    for await (const { type, data } of await openEvents(answer, refuseError)) {
      if (type === 'error') throw streamFailure(data);
      const body = jsonObjectOf(data);
      const item = readStreamItem(body);
      if (item) yield item;
      else if (isErrorItem(body)) throw streamFailure(data);
      else options.onSkipped?.();
    }
  }

  #sendRequest(
    method: OutboundCall['method'],
    path: string,
    { accept, options, body }: { accept: string; options: TransportOptions; body?: object | undefined },
  ): Promise<AgentAnswer> {
    const { signal, alive, auth, place } = options;
    const sent = path.startsWith('/message:') ? (body as SendMessageRequest) : undefined;
    const fence = sent && options.fence;
    const tenant = sent?.tenant || this.endpoint.tenant;
    const base = withoutTrailing(this.endpoint.url, '/') + (tenant ? `/${encodeURIComponent(tenant)}` : '');
    const url = new URL(base + path);
    const credentials = this.endpoint.credentials?.(options);
    const headers: Record<string, string> = {
      ...options.headers,
      accept,
      'a2a-version': '1.0',
      ...credentials,
      ...callTraceHeaders(options),
      ...(sent && { ...keyHeader(options), ...extensionsHeader(sent, options) }),
    };
    if (body === undefined) return this.request({ url, method, headers, signal, alive, auth, fence, place });
    headers['content-type'] = 'application/json';
    return this.request({ url, method, headers, body: JSON.stringify(body), signal, alive, auth, fence, place });
  }
}

const JSON_TYPES = 'application/a2a+json, application/json';

function taskPath(taskId: string): string {
  return `/tasks/${encodeURIComponent(taskId)}`;
}

/** Rejects an answer of status 2xx whose body is an error. @throws AgentCallError */
function refuseError(body: string): void {
  const error = errorOf(jsonObjectOf(body));
  if (error !== undefined) throw error;
}

/**
 * True for an error that a server sends as a normal item of a stream: `{"error": {…}}`, or a numeric `code` with a
 * message (google.rpc.Status).
 */
function isErrorItem({ error, code, message }: JsonObject): boolean {
  return isJsonObject(error) || (typeof code === 'number' && typeof message === 'string');
}

/** Creates the failure for an `error` event of a stream. */
function streamFailure(data: string): AgentCallError {
  const body = jsonObjectOf(data);
  return errorOf(body) ?? rpcFailure(A2A_ERRORS.INTERNAL.code, errorText(body));
}

type SdkAgentInterface = SdkAgentCard['supportedInterfaces'][number];

/** Agent at the URL that its caller named. */
export interface AddressedAgent {
  url: string;
  credentials?: CallCredentials;
}

/** Settings of the transports to all agents. */
export interface AgentTransportsOptions {
  /** Signers for calls that name a credential; absent: such calls go out unsigned. */
  signers?: RequestSigners;
  /** Signs the URLs of this service's files that are sent to remote agents; absent: Messages keep their URLs. */
  files?: OutgoingFiles;
  /** Limits of agents' answers; the defaults unless set otherwise. */
  content?: ContentLimits;
  /** Milliseconds that the detected dialect of an agent is remembered; default one minute. */
  dialectMaxAge?: number;
  /** Bindings of A2A 1.x to call, in order of preference; absent: all, in the order of each card. */
  bindings?: readonly AgentBinding[] | undefined;
}

const DIALECT_MAX_AGE_MS = 60_000;

/**
 * Creates transports for agents: JSON-RPC, HTTP+JSON or gRPC, whichever the card names first (section 8.3.2), or in the
 * order of `bindings`. Interfaces of 1.x are preferred to interfaces of 0.3. Agents of 0.3 are called over JSON-RPC and
 * HTTP+JSON.
 */
export class AgentTransports {
  readonly #request: AgentRequest;
  readonly #legacy: LegacyClients;
  readonly #ids = new LRUCache<string, () => number>({ max: 1_000 });
  readonly #dialects: SpokenDialects;
  readonly #bindings: readonly AgentBinding[];

  constructor(
    private readonly http: AgentHttp,
    private readonly options: AgentTransportsOptions = {},
  ) {
    const { content = DEFAULT_CONTENT_LIMITS, dialectMaxAge = DIALECT_MAX_AGE_MS } = options;
    const bindings = options.bindings ?? CARD_ORDER;
    this.#bindings = http.requestGrpc ? bindings : bindings.filter((it) => it !== 'GRPC');
    this.#dialects = new SpokenDialects(dialectMaxAge);
    this.#request = agentRequest(http.request ?? fetchRequester(http.fetch), content);
    this.#legacy = new LegacyClients(agentFetch(http.fetch, content));
  }

  /**
   * Creates the transport for the preferred interface of a card.
   * @throws AgentCallError `invalid-response` if Parley supports none of the card's interfaces
   */
  async ofCard(card: SdkAgentCard, agent: AddressedAgent): Promise<AgentTransport> {
    const streaming = card.capabilities?.streaming === true;
    const chosen = this.#chooseInterface(card);
    const transport = isLegacy(chosen)
      ? new SdkTransport(await this.#legacy.createClient(asOf03(card, chosen)), streaming)
      : this.#openTransport(chosen, streaming, agent.credentials);
    return this.#wrapTransport(transport, agent, endpointOf(chosen), securityOf(card));
  }

  /**
   * Creates the transport for an agent that speaks the pre-1.0 dialect, according to its card or its caller.
   * @throws AgentCallError `invalid-response` if the card has no callable URL
   */
  ofPre10Card(card: SdkAgentCard, agent: AddressedAgent): AgentTransport {
    const { url } = this.#chooseInterface(card);
    return this.#wrapTransport(
      this.#openUndeclared(url, 'pre-1.0', agent.credentials),
      agent,
      new URL(url),
      securityOf(card),
    );
  }

  /**
   * Creates the transport for an agent without a card: JSON-RPC at its URL, without streaming.
   * @param first dialect to try first if none is remembered for the URL
   */
  ofUrl(agent: AddressedAgent, first: SpokenDialect): AgentTransport {
    const { url, credentials } = agent;
    return this.#wrapTransport(this.#openUndeclared(url, first, credentials), agent, new URL(url));
  }

  /**
   * Returns the preferred interface of a card that Parley supports: 1.0, else the first of 1.x, else JSON-RPC of 0.3,
   * else the first of 0.3, else the first without a version.
   * @throws AgentCallError `invalid-response`
   */
  #chooseInterface(card: SdkAgentCard): SdkAgentInterface {
    const spoken = this.#spokenInterfaces(card.supportedInterfaces.filter(isCallable));
    const legacy = spoken.filter((it) => isLegacy(it) && !isGrpc(it));
    const chosen =
      findPreferredInterface(spoken) ??
      legacy.find((it) => /^JSONRPC$/i.test(it.protocolBinding)) ??
      legacy[0] ??
      // An interface that names no version is taken as one of 1.0, whose cards have interfaces.
      spoken.find(({ protocolVersion }) => protocolVersion === '');
    if (chosen === undefined) throw noInterface(card, this.#bindings);
    return chosen;
  }

  /** Returns the interfaces with a binding that this client calls (`bindings`), in order of preference. */
  #spokenInterfaces(interfaces: SdkAgentInterface[]): SdkAgentInterface[] {
    const rankOf = (it: SdkAgentInterface): number =>
      this.#bindings.findIndex((binding) => binding === it.protocolBinding.toUpperCase());
    const spoken = interfaces.filter((it) => rankOf(it) !== -1);
    return this.options.bindings === undefined ? spoken : spoken.toSorted((a, b) => rankOf(a) - rankOf(b));
  }

  #openUndeclared(url: string, first: SpokenDialect, credentials?: CallCredentials): AgentTransport {
    const endpoint = this.#createEndpoint({ url, credentials });
    const openDialect = (dialect: JsonRpcDialect) => new JsonRpcTransport(this.#request, endpoint, false, dialect);
    return new DialectTransport({ endpoint: url, first, openDialect }, this.#dialects);
  }

  #openTransport(chosen: SdkAgentInterface, streaming: boolean, credentials?: CallCredentials): AgentTransport {
    const { url, tenant } = chosen;
    if (isGrpc(chosen)) {
      const limits = this.options.content ?? DEFAULT_CONTENT_LIMITS;
      const endpoint = { origin: endpointOf(chosen), tenant, credentials };
      return new GrpcTransport(this.http.requestGrpc!, endpoint, streaming, limits);
    }
    if (chosen.protocolBinding.toUpperCase() === 'HTTP+JSON')
      return new RestTransport(this.#request, { url, tenant, credentials }, streaming);
    return new JsonRpcTransport(this.#request, this.#createEndpoint({ url, tenant, credentials }), streaming);
  }

  #wrapTransport(
    transport: AgentTransport,
    agent: AddressedAgent,
    endpoint: URL,
    security?: RequiredSecurity,
  ): AgentTransport {
    const { signers, files } = this.options;
    // Agents of this service read the files by their URLs; only they get credentials.
    const isElsewhere = agent.credentials === undefined;
    const opening = files && isElsewhere ? new FileOpeningTransport(transport, files) : transport;
    if (signers === undefined) return opening;
    const signed = { agentUrl: agent.url, endpoint, ...(security && { security }) };
    return new SigningTransport(opening, signers, signed);
  }

  #createEndpoint({ url, tenant, credentials }: Omit<JsonRpcEndpoint, 'nextId'>): JsonRpcEndpoint {
    return { url, tenant, credentials, nextId: this.#idsOf(url) };
  }

  /** Returns a function that gives the next request id of an endpoint: 1, 2, 3, …, over all calls to the endpoint. */
  #idsOf(url: string): () => number {
    let last = 0;
    const ids = this.#ids.get(url) ?? (() => (last += 1));
    this.#ids.set(url, ids);
    return ids;
  }
}

const CARD_ORDER: readonly AgentBinding[] = ['JSONRPC', 'HTTP+JSON', 'GRPC'];

function isGrpc({ protocolBinding }: SdkAgentInterface): boolean {
  return /^GRPC$/i.test(protocolBinding);
}

/** True if the URL of an interface can be called over the binding of the interface. */
function isCallable(it: SdkAgentInterface): boolean {
  return isGrpc(it) ? grpcOrigin(it.url) !== undefined : /^https?:/i.test(it.url) && URL.canParse(it.url);
}

/** Returns the URL that calls of an interface go to; for gRPC, its origin. */
function endpointOf(chosen: SdkAgentInterface): URL {
  return (isGrpc(chosen) ? grpcOrigin(chosen.url) : undefined) ?? new URL(chosen.url);
}

/** Creates the failure for a card without an interface that Parley calls. */
function noInterface(card: SdkAgentCard, bindings: readonly AgentBinding[]): AgentCallError {
  const relative = card.supportedInterfaces.find((it) => !isCallable(it) && !URL.canParse(it.url));
  const offers = `the agent card offers none of ${bindings.join(', ')} of A2A 1.x, and no interface of 0.3`;
  const text =
    relative === undefined
      ? `${offers}${describeOffers(card)}`
      : `the agent card names the URL "${briefText(relative.url)}", which must be absolute`;
  return new AgentCallError('invalid-response', text);
}

/** Maximum number of interfaces of a card that an error names. */
const MOST_OFFERS = 5;

/**
 * Returns the end of an error's sentence with the bindings and versions of a card: `, but SOAP 1.0`; `''` if the card
 * has none.
 */
function describeOffers({ supportedInterfaces: offers }: SdkAgentCard): string {
  const named = offers.slice(0, MOST_OFFERS).map((it) => `${it.protocolBinding || 'no binding'} ${it.protocolVersion}`);
  return named.length === 0 ? '' : `, but ${briefText(named.join(', '), 200)}`;
}

/** True for an interface of 0.2 or 0.3, whose requests and answers are equal. */
function isLegacy({ protocolVersion }: SdkAgentInterface): boolean {
  return /^0\.[23](\.|$)/.test(protocolVersion);
}

/** Returns the card that the SDK's client needs, with version 0.3, the oldest version that the SDK knows. */
function asOf03(card: SdkAgentCard, { url, tenant, protocolBinding }: SdkAgentInterface): SdkAgentCard {
  return sdkCalledCard(card, { url, tenant, protocolBinding, protocolVersion: '0.3' });
}

/** Returns the first interface of 1.0, else the first of any 1.x; `undefined` if there is none. */
function findPreferredInterface(interfaces: SdkAgentInterface[]): SdkAgentInterface | undefined {
  const current = interfaces.filter((it) => /^1(\.|$)/.test(it.protocolVersion));
  return current.find((it) => it.protocolVersion === '1.0') ?? current[0];
}
