import type { AgentCard as SdkAgentCard } from '@a2a-js/sdk';
import { Logger } from '@nestjs/common';
import type { LocalRequestHandler } from '#libs/executor';
import type { ServiceAddress } from '#libs/http';
import { type AgentCard, decodeAgentCard, type JsonObject, shownUrl, urlProblem } from '#libs/protocol';
import type { ContentLimits, ReceivedAnswers } from '#libs/service';
import { LRUCache } from 'lru-cache';
import { AgentCallError } from './agent-call-error.js';
import { AgentCards } from './agent-cards.js';
import { type AgentClient, AgentDirectory, type CallOptions } from './agent-client.js';
import type { CredentialsOf } from './agent-transport.js';
import type { AgentHttp } from './agent-http.js';
import type { CardGuard } from './card-guard.js';
import { CARD_PATH, isOfService } from './card-places.js';
import { AgentTransports, type CalledAgent } from './agent-transports.js';
import type { OutgoingFiles } from './outgoing-files.js';
import type { RequestSigners } from './request-signers.js';
import { CallDeadlines } from './call-deadlines.js';
import { calledCard } from './called-card.js';
import { heldBytes } from './held-bytes.js';
import { CallOutcomes, type OutcomeCounter } from './call-outcomes.js';
import { type LocalAgent, LocalAgentClient } from './local-agent-client.js';
import { NOBODY, TransportAgentClient } from './transport-agent-client.js';

const logger = new Logger('HttpAgentDirectory');
/** Bytes of all clients that are kept, with the cards that they have. */
const MOST_KEPT_BYTES = 32 * 1024 * 1024;
/** Bytes of a client beside the card that it is kept for. */
const CLIENT_BYTES = 4 * 1024;

export interface HttpAgentDirectoryOptions {
  http: AgentHttp;
  /** For agents of this process, which are called without a socket; absent: all are called over the network. */
  local?: LocalAgents;
  calls?: OutcomeCounter;
  credentials?: CredentialsOf;
  /** Decides whether agents may be called by their cards; absent: all of them. */
  guard?: CardGuard;
  /** For calls that name a credential; without it they go out as all others do. */
  signers?: RequestSigners;
  /** Opens files of this service to agents elsewhere; without it Messages go out with the URLs that they have. */
  files?: OutgoingFiles;
  /** How much an agent may answer; the defaults unless set otherwise. */
  content?: ContentLimits;
  /** Memory for the answers of agents elsewhere, all together; absent: no call waits for others. */
  room?: ReceivedAnswers;
  /** Addresses of this service, whose agents are not elsewhere; absent: those that get `credentials` are not. */
  own?: OwnAddresses;
  /** Milliseconds for which the dialect of an agent is remembered whose card does not say it; a minute unless set. */
  dialectMaxAge?: number;
  /** Told once per URL that an agent has no card; otherwise that is logged. */
  onCardless?: (url: string) => void;
}

/** The addresses under which this service is known. */
export type OwnAddresses = Pick<ServiceAddress, 'ownPath' | 'ownUrls'>;

/** The agents of this process. */
export interface LocalAgents {
  /** Theirs, which is not known before the process listens. */
  address: Pick<ServiceAddress, 'internalUrl'>;
  /** Asked at the first call: what it serves may call agents itself. */
  handler: () => LocalRequestHandler;
}

/** Finds agents by URL: this process's own without a socket, all others over HTTP by what their card says. */
export class HttpAgentDirectory extends AgentDirectory {
  readonly #cards: AgentCards;
  readonly #transports: AgentTransports;
  readonly #outcomes: CallOutcomes;
  /** The client of each URL and protocol, as long as its card stays the same. */
  readonly #clients = new LRUCache<string, { card: SdkAgentCard; client: AgentClient }>({
    max: 1_000,
    maxSize: MOST_KEPT_BYTES,
  });
  #handler: LocalRequestHandler | undefined;
  readonly #cardlessReported = new Set<string>();
  readonly #onCardless: (url: string) => void;

  constructor(private readonly options: HttpAgentDirectoryOptions) {
    super();
    this.#cards = new AgentCards(options.http, options.content);
    this.#transports = new AgentTransports(options.http, options);
    this.#outcomes = new CallOutcomes(options.calls);
    this.#onCardless =
      options.onCardless ??
      ((url) => logger.log({ url: shownUrl(url) }, 'An agent has no card; it is called at its URL'));
  }

  /** Number of clients that are kept, and their bytes in memory. */
  get kept(): { clients: number; bytes: number } {
    return { clients: this.#clients.size, bytes: this.#clients.calculatedSize };
  }

  override async client(url: string, options: CallOptions = {}): Promise<AgentClient> {
    refuseUnfitUrl(url);
    const local = this.#localAgent(url);
    if (local !== undefined) return new LocalAgentClient(url, local, this.#outcomes);
    const card = await this.#admitted(url, options);
    return card === undefined ? this.#withoutCard(url, options) : this.#withCard(url, card, options);
  }

  override async card(url: string, options: CallOptions = {}): Promise<AgentCard | undefined> {
    refuseUnfitUrl(url);
    const card = this.#localAgent(url) === undefined ? await this.#admitted(url, options) : undefined;
    return card && decodeAgentCard(card);
  }

  override async pinnedCard(url: string, options: Pick<CallOptions, 'scope'> = {}): Promise<JsonObject | undefined> {
    return this.#localAgent(url) === undefined ? this.options.guard?.pinned(url, options) : undefined;
  }

  #localAgent(url: string): LocalAgent | undefined {
    const { local } = this.options;
    if (local === undefined) return undefined;
    const path = pathBelow(`${local.address.internalUrl}/a2a`, url.replace(CARD_PATH, ''));
    return path === undefined ? undefined : { path, handler: (this.#handler ??= local.handler()) };
  }

  /** Returns the card of an agent that may be called by it. */
  async #admitted(url: string, options: CallOptions): Promise<SdkAgentCard | undefined> {
    const fresh = this.#cards.fresh(url);
    if (fresh !== undefined) {
      await this.#admission(url, fresh, options);
      return fresh;
    }
    using limits = new CallDeadlines(options);
    const room = URL.canParse(url) ? this.#roomOf(this.#called(url)) : undefined;
    using place = room?.place(options.scope ?? NOBODY, limits);
    const card = await this.#cards.find(url, limits, { credentials: this.#cardCredentials(url, options), place });
    // Whoever waits for keys or for the database holds all of the card meanwhile.
    const signal = options.signal && limits.signal;
    const admission = this.#admission(url, card, { ...options, ...(signal && { signal }) });
    if (admission) await Promise.all([admission, place?.read(heldBytes(card), limits.signal)]);
    return card;
  }

  #admission(url: string, card: SdkAgentCard | undefined, options: CallOptions): Promise<void> | undefined {
    return this.options.guard?.admit(url, card && this.#cards.received(card), options);
  }

  /** Cards are public, but those of a tenant's own agents. */
  #cardCredentials(url: string, options: CallOptions): Readonly<Record<string, string>> | undefined {
    return options.scope?.tenant ? this.options.credentials?.(url)?.(options) : undefined;
  }

  async #withCard(url: string, card: SdkAgentCard, { protocol }: CallOptions): Promise<AgentClient> {
    const key = `${protocol ?? ''} ${url}`;
    const kept = this.#clients.get(key);
    if (kept?.card === card) return kept.client;
    const agent = this.#called(url);
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

  #withoutCard(url: string, { protocol }: CallOptions): AgentClient {
    if (!this.#cardlessReported.has(url) && this.#cardlessReported.size < 1_000) {
      this.#cardlessReported.add(url);
      this.#onCardless(url);
    }
    const agent = this.#called(url);
    const transport = this.#transports.ofUrl(agent, protocol === undefined ? '1.0' : 'pre-1.0');
    const room = this.#roomOf(agent);
    return new TransportAgentClient(url, undefined, transport, this.#outcomes, this.options.content, room);
  }

  /** Own agents over HTTP wait for nothing: what they call may need the very room that such a call would hold. */
  #roomOf({ url, credentials }: CalledAgent): ReceivedAnswers | undefined {
    const { own, room } = this.options;
    return credentials === undefined && !(own && isOfAddresses(new URL(url).href, own)) ? room : undefined;
  }

  #called(url: string): CalledAgent {
    return { url, credentials: this.options.credentials?.(url) };
  }
}

/** @throws AgentCallError `refused` */
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
