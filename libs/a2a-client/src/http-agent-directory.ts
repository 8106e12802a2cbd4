import type { AgentCard as SdkAgentCard } from '@a2a-js/sdk';
import { Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { CallContext, LocalRequestHandler } from '#libs/agents';
import type { ServiceAddress } from '#libs/http-server';
import {
  type AgentCard,
  decodeAgentCard,
  isActiveState,
  type JsonObject,
  redactedUrl,
  type SendMessageRequest,
  type StreamResponse,
  type Task,
  urlProblem,
} from '#libs/protocol';
import type { AgentBinding, ContentLimits, ReceivedAnswers } from '#libs/service';
import { AgentCallError } from './agent-call-error.js';
import { AgentCardReader, CARD_PATH, type CardGuard, heldBytes, isOfService } from './agent-cards.js';
import { type AgentCallOptions, AgentClient, AgentDirectory, calledCard, type CancelOutcome } from './agent-client.js';
import type { AgentHttp } from './agent-request.js';
import { CallDeadlines } from './call-deadlines.js';
import { CallOutcomes, type OutcomeCounter } from './call-failure.js';
import type { RequestSigners } from './request-signers.js';
import { NOBODY, TransportAgentClient } from './transport-agent-client.js';
import type { AgentTransport, CredentialsOf, TransportOptions } from './transports/agent-transport.js';
import { type AddressedAgent, AgentTransports } from './transports/agent-transports.js';
import type { OutgoingFiles } from './transports/file-opening-transport.js';

/** An agent of this process. */
interface LocalAgent {
  /** Path of the agent below `/a2a`. */
  path: string;
  handler: LocalRequestHandler;
}

/**
 * Client of an agent of this process. It uses no network, so there is nothing to retry, and silence is not limited: a
 * call without `timeouts` reads the agent's events directly.
 */
class LocalAgentClient extends AgentClient {
  override readonly card = undefined;
  #transportClient: TransportAgentClient | undefined;

  constructor(
    override readonly agentUrl: string,
    private readonly agent: LocalAgent,
    private readonly outcomes: CallOutcomes,
  ) {
    super();
  }

  /**
   * Client that adds time limits, and resumption as for remote calls. All methods use it, except `sendMessage` without
   * `timeouts`.
   */
  get #limited(): TransportAgentClient {
    return (this.#transportClient ??= new TransportAgentClient(
      this.agentUrl,
      undefined,
      new LocalTransport(this.agent),
      this.outcomes,
    ));
  }

  /**
   * Returns the agent's current input modes, since the input modes of a workflow or a model may change between calls.
   * For a registered agent these are the modes in the card of the remote agent.
   */
  override async inputModes(options: AgentCallOptions = {}): Promise<readonly string[] | undefined> {
    const { path, handler } = this.agent;
    const agent = await handler.resolveAgent(callTo(path, options), options.signal).catch(() => undefined);
    return (await agent?.beginModes?.()) ?? agent?.card?.defaultInputModes ?? agent?.inputModes;
  }

  override sendMessage(request: SendMessageRequest, options: AgentCallOptions = {}): AsyncIterable<StreamResponse> {
    if (options.timeouts !== undefined) return this.#limited.sendMessage(request, options);
    return this.outcomes.countedStream(this.#readLocalEvents(request, options));
  }

  override followTask(taskId: string, options?: AgentCallOptions): AsyncIterable<StreamResponse> {
    return this.#limited.followTask(taskId, options);
  }

  override getTask(taskId: string, options?: AgentCallOptions): Promise<Task> {
    return this.#limited.getTask(taskId, options);
  }

  override cancelTask(taskId: string, options?: AgentCallOptions): Promise<CancelOutcome> {
    return this.#limited.cancelTask(taskId, options);
  }

  async *#readLocalEvents(request: SendMessageRequest, options: AgentCallOptions): AsyncIterable<StreamResponse> {
    let taskId: string | undefined;
    const { path, handler } = this.agent;
    for await (const event of handler.sendInProcess(request, callTo(path, options), options.signal)) {
      if ('task' in event) taskId = event.task.id;
      yield event;
      if (endsTurn(event)) return;
    }
    options.signal?.throwIfAborted();
    // This process no longer executes the Task: another replica's execution is followed through the log.
    if (taskId !== undefined) yield* this.followTask(taskId, options);
  }
}

/** Transport to an agent of this process. It sends no heartbeats, so silence is not limited. */
class LocalTransport implements AgentTransport {
  readonly streaming = true;
  readonly timeouts = { firstEvent: Infinity, idle: Infinity };

  constructor(private readonly agent: LocalAgent) {}

  async *sendMessage(request: SendMessageRequest, options: TransportOptions): AsyncIterable<StreamResponse> {
    const { path, handler } = this.agent;
    yield* handler.sendInProcess(request, callTo(path, options), options.signal);
  }

  async *subscribeToTask(id: string, options: TransportOptions): AsyncIterable<StreamResponse> {
    const { path, handler } = this.agent;
    const call = callTo(path, options);
    const { signal, missed } = options;
    const following = { signal, ...(missed && { missed }) };
    const items = handler.subscribeToTask(await handler.resolveAgent(call, signal), { id }, call, following);
    for await (const { response } of items) yield response;
  }

  async getTask(id: string, options: TransportOptions): Promise<Task> {
    const { path, handler } = this.agent;
    const call = callTo(path, options);
    const { signal } = options;
    return handler.getTask(await handler.resolveAgent(call, signal), { id }, call, signal);
  }

  async cancelTask(id: string, options: TransportOptions): Promise<Task> {
    const { path, handler } = this.agent;
    const call = callTo(path, options);
    const { signal } = options;
    return handler.cancelTask(await handler.resolveAgent(call, signal), { id }, call, signal);
  }
}

const NO_EXTENSIONS: readonly string[] = [];

/**
 * Builds the context of a call.
 * @throws Error if the options have no scope: the call would otherwise belong to all callers without a tenant
 */
function callTo(agent: string, { scope, parent, revision, trace }: AgentCallOptions): CallContext {
  if (scope === undefined) throw new Error('A call of an agent of this service does not say for whom it is made');
  const call: CallContext = { scope, agent, extensions: NO_EXTENSIONS, baseUrl: '', ...(parent && { parent }) };
  if (trace) call.trace = trace;
  return revision === undefined ? call : { ...call, revision };
}

function endsTurn(event: StreamResponse): boolean {
  return 'message' in event || ('statusUpdate' in event && !isActiveState(event.statusUpdate.status.state));
}

const logger = new Logger('HttpAgentDirectory');
/** Maximum number of bytes of all cached clients with their cards. */
const MOST_KEPT_BYTES = 32 * 1024 * 1024;
/** Estimated bytes of memory of a cached client beside its card. */
const CLIENT_BYTES = 4 * 1024;

export interface HttpAgentDirectoryOptions {
  http: AgentHttp;
  /** Agents of this process, called without a socket; absent: all are called over the network. */
  local?: LocalAgents;
  calls?: OutcomeCounter;
  credentials?: CredentialsOf;
  /** Decides by an agent's card whether the agent may be called; absent: all agents may be called. */
  guard?: CardGuard;
  /** Signers for calls that name a credential; absent: such calls go out unsigned. */
  signers?: RequestSigners;
  /** Signs the URLs of this service's files that are sent to remote agents; absent: Messages keep their URLs. */
  files?: OutgoingFiles;
  /** Limits of agents' answers; the defaults unless set otherwise. */
  content?: ContentLimits;
  /** Shared memory for the answers of remote agents; absent: that memory is not limited, so no call waits for room. */
  room?: ReceivedAnswers;
  /**
   * Addresses of this service. An agent at one of them is not a remote agent. Absent: an agent counts as not remote if
   * `credentials` has headers for it.
   */
  own?: OwnAddresses;
  /** Milliseconds that the detected dialect of an agent is remembered; default one minute. */
  dialectMaxAge?: number;
  /** Bindings of A2A 1.x to call, in order of preference; absent: all, in the order of each card. */
  bindings?: readonly AgentBinding[] | undefined;
  /** Called once for each URL of an agent without a card; absent: the URL is logged. */
  onCardless?: (url: string) => void;
}

/** Members of ServiceAddress by which URLs of this service are recognized. */
type OwnAddresses = Pick<ServiceAddress, 'ownPath' | 'ownUrls'>;

/** Agents of this process, which are called without a socket. */
interface LocalAgents {
  /** Address of the agents, unknown until the process listens. */
  address: Pick<ServiceAddress, 'internalUrl'>;
  /**
   * Returns the request handler. This directory calls the function once, at the first local call: the request handler
   * needs the served agents, and these need this directory, so it cannot be passed earlier.
   */
  handler: () => LocalRequestHandler;
}

/**
 * Resolves clients for agents by URL: agents of this process are called without a socket, other agents over the
 * network.
 */
export class HttpAgentDirectory extends AgentDirectory {
  readonly #cards: AgentCardReader;
  readonly #transports: AgentTransports;
  readonly #outcomes: CallOutcomes;
  /** Cached clients by URL and protocol, valid while the card stays the same. */
  readonly #clients = new LRUCache<string, { card: SdkAgentCard; client: AgentClient }>({
    max: 1_000,
    maxSize: MOST_KEPT_BYTES,
  });
  #handler: LocalRequestHandler | undefined;
  readonly #cardlessReported = new Set<string>();
  readonly #onCardless: (url: string) => void;

  constructor(private readonly options: HttpAgentDirectoryOptions) {
    super();
    this.#cards = new AgentCardReader(options.http, options.content);
    this.#transports = new AgentTransports(options.http, options);
    this.#outcomes = new CallOutcomes(options.calls);
    this.#onCardless =
      options.onCardless ??
      ((url) => logger.log({ url: redactedUrl(url) }, 'An agent has no card; it is called at its URL'));
  }

  /** Number of cached clients, and the bytes of memory that they take. */
  get kept(): { clients: number; bytes: number } {
    return { clients: this.#clients.size, bytes: this.#clients.calculatedSize };
  }

  override async resolveClient(url: string, options: AgentCallOptions = {}): Promise<AgentClient> {
    refuseUnfitUrl(url);
    const local = this.#localAgent(url);
    if (local !== undefined) return new LocalAgentClient(url, local, this.#outcomes);
    const card = await this.#findAdmittedCard(url, options);
    return card === undefined ? this.#withoutCard(url, options) : this.#withCard(url, card, options);
  }

  override async resolveCard(url: string, options: AgentCallOptions = {}): Promise<AgentCard | undefined> {
    refuseUnfitUrl(url);
    const card = this.#localAgent(url) === undefined ? await this.#findAdmittedCard(url, options) : undefined;
    return card && decodeAgentCard(card);
  }

  override async pinnedCard(
    url: string,
    options: Pick<AgentCallOptions, 'scope'> = {},
  ): Promise<JsonObject | undefined> {
    return this.#localAgent(url) === undefined ? this.options.guard?.findPinnedCard(url, options) : undefined;
  }

  #localAgent(url: string): LocalAgent | undefined {
    const { local } = this.options;
    if (local === undefined) return undefined;
    const path = pathBelow(`${local.address.internalUrl}/a2a`, url.replace(CARD_PATH, ''));
    return path === undefined ? undefined : { path, handler: (this.#handler ??= local.handler()) };
  }

  /** Returns the card of an agent after the guard has admitted the agent. */
  async #findAdmittedCard(url: string, options: AgentCallOptions): Promise<SdkAgentCard | undefined> {
    const fresh = this.#cards.findFreshCard(url);
    if (fresh !== undefined) {
      await this.#askGuard(url, fresh, options);
      return fresh;
    }
    using limits = new CallDeadlines(options);
    const room = URL.canParse(url) ? this.#roomOf(this.#addressedAgent(url)) : undefined;
    using place = room?.openPlace(options.scope ?? NOBODY, limits);
    const card = await this.#cards.findCard(url, limits, { credentials: this.#cardCredentials(url, options), place });
    // The whole card is in memory while the guard waits for keys or for the database.
    const signal = options.signal && limits.signal;
    const admission = this.#askGuard(url, card, { ...options, ...(signal && { signal }) });
    if (admission) await Promise.all([admission, place?.countRead(heldBytes(card), limits.signal)]);
    return card;
  }

  #askGuard(url: string, card: SdkAgentCard | undefined, options: AgentCallOptions): Promise<void> | undefined {
    return this.options.guard?.admitCard(url, card && this.#cards.findReceivedCard(card), options);
  }

  /**
   * Returns the credentials for reading a card; `undefined` for a caller without a tenant, since only the cards of a
   * tenant's agents need credentials.
   */
  #cardCredentials(url: string, options: AgentCallOptions): Readonly<Record<string, string>> | undefined {
    return options.scope?.tenant ? this.options.credentials?.(url)?.(options) : undefined;
  }

  async #withCard(url: string, card: SdkAgentCard, { protocol }: AgentCallOptions): Promise<AgentClient> {
    const key = `${protocol ?? ''} ${url}`;
    const kept = this.#clients.get(key);
    if (kept?.card === card) return kept.client;
    const agent = this.#addressedAgent(url);
    const isPre10 = protocol !== undefined || this.#cards.isPre10(card);
    const transport = isPre10 ? this.#transports.ofPre10Card(card, agent) : await this.#transports.ofCard(card, agent);
    const client = new TransportAgentClient(
      url,
      calledCard(card),
      transport,
      this.#outcomes,
      this.options.content,
      this.#roomOf(agent),
    );
    const bytes = this.#cards.keptBytes(card);
    if (bytes === undefined) this.#clients.delete(key);
    else this.#clients.set(key, { card, client }, { size: CLIENT_BYTES + bytes });
    return client;
  }

  #withoutCard(url: string, { protocol }: AgentCallOptions): AgentClient {
    if (!this.#cardlessReported.has(url) && this.#cardlessReported.size < 1_000) {
      this.#cardlessReported.add(url);
      this.#onCardless(url);
    }
    const agent = this.#addressedAgent(url);
    const transport = this.#transports.ofUrl(agent, protocol === undefined ? '1.0' : 'pre-1.0');
    const room = this.#roomOf(agent);
    return new TransportAgentClient(url, undefined, transport, this.#outcomes, this.options.content, room);
  }

  /**
   * Returns the shared memory for a remote agent's answers; `undefined` for agents of this service that are called over
   * HTTP. Such an agent may itself have to call other agents before it answers. If both calls took memory from the same
   * limit, each could wait for the other.
   */
  #roomOf({ url, credentials }: AddressedAgent): ReceivedAnswers | undefined {
    const { own, room } = this.options;
    return credentials === undefined && !(own && isOfAddresses(new URL(url).href, own)) ? room : undefined;
  }

  #addressedAgent(url: string): AddressedAgent {
    return { url, credentials: this.options.credentials?.(url) };
  }
}

/** Rejects a URL that must not be called. @throws AgentCallError `refused` */
function refuseUnfitUrl(url: string): void {
  const problem = urlProblem(url);
  if (problem !== undefined) throw new AgentCallError('refused', `the agent's URL ${problem}`);
}

function isOfAddresses(url: string, own: OwnAddresses): boolean {
  return own.ownPath(url) !== undefined || isOfService(url, own.ownUrls);
}

function pathBelow(root: string, url: string): string | undefined {
  if (url === root) return '';
  return url.startsWith(`${root}/`) ? url.slice(root.length + 1).replace(/\/$/, '') : undefined;
}
