import type { AgentCard as SdkAgentCard } from '@a2a-js/sdk';
import { Logger } from '@nestjs/common';
import type { LocalRequestHandler } from '#libs/executor';
import type { ServiceAddress } from '#libs/http';
import { type AgentCard, decodeAgentCard, type JsonObject, redactedUrl, urlProblem } from '#libs/protocol';
import type { ContentLimits, ReceivedAnswers } from '#libs/service';
import { LRUCache } from 'lru-cache';
import { AgentCallError } from './agent-call-error.js';
import { AgentCardReader } from './agent-cards.js';
import { type AgentClient, AgentDirectory, type AgentCallOptions } from './agent-client.js';
import type { CredentialsOf } from './agent-transport.js';
import type { AgentHttp } from './agent-http.js';
import type { CardGuard } from './card-guard.js';
import { CARD_PATH, isOfService } from './card-places.js';
import { AgentTransports, type AddressedAgent } from './agent-transports.js';
import type { OutgoingFiles } from './outgoing-files.js';
import type { RequestSigners } from './request-signers.js';
import { CallDeadlines } from './call-deadlines.js';
import { calledCard } from './called-card.js';
import { heldBytes } from './held-bytes.js';
import { CallOutcomes, type OutcomeCounter } from './call-outcomes.js';
import { type LocalAgent, LocalAgentClient } from './local-agent-client.js';
import { NOBODY, TransportAgentClient } from './transport-agent-client.js';

const logger = new Logger('HttpAgentDirectory');
/** Maximum number of bytes of all cached clients with their cards. */
const MOST_KEPT_BYTES = 32 * 1024 * 1024;
/** Bytes of a client beside its card. */
const CLIENT_BYTES = 4 * 1024;

export interface HttpAgentDirectoryOptions {
  http: AgentHttp;
  /** Agents of this process, called without a socket; absent: all are called over the network. */
  local?: LocalAgents;
  calls?: OutcomeCounter;
  credentials?: CredentialsOf;
  /** Decides by their cards whether agents may be called; absent: all may. */
  guard?: CardGuard;
  /** Signers for calls that name a credential; absent: such calls go out unsigned. */
  signers?: RequestSigners;
  /** Opens files of this service to remote agents; absent: Messages keep their URLs. */
  files?: OutgoingFiles;
  /** Limits of agents' answers; the defaults unless set otherwise. */
  content?: ContentLimits;
  /** Shared memory for the answers of remote agents; absent: calls do not wait for each other. */
  room?: ReceivedAnswers;
  /** Addresses of this service, whose agents are not remote; absent: agents that get `credentials` are not. */
  own?: OwnAddresses;
  /** Milliseconds for which the detected dialect of an agent is remembered; default one minute. */
  dialectMaxAge?: number;
  /** Called once per URL of an agent without a card; absent: that is logged. */
  onCardless?: (url: string) => void;
}

/** Addresses of this service. */
export type OwnAddresses = Pick<ServiceAddress, 'ownPath' | 'ownUrls'>;

/** Agents of this process. */
export interface LocalAgents {
  /** Address of the agents, unknown until the process listens. */
  address: Pick<ServiceAddress, 'internalUrl'>;
  /** Returns the request handler. Called at the first call, because served agents may call agents themselves. */
  handler: () => LocalRequestHandler;
}

/** Finds agents by URL: those of this process without a socket, others over HTTP by their cards. */
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

  /** Number of cached clients, and their bytes in memory. */
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

  /** Returns the card of an agent after its admission. */
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

  /** Returns the credentials for reading a card: only cards of a tenant's own agents need them. */
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
   * Returns the shared room for an agent's answers. Agents of this service over HTTP use none: their own calls may need
   * the room that this call would hold.
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
