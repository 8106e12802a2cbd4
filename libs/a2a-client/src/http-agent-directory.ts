import { Logger } from '@nestjs/common';
import { decodeAgentCard } from '#libs/protocol';
import { AgentCards, assumedCard, CARD_PATH } from './agent-cards.js';
import { type AgentClient, AgentDirectory, type CallOptions } from './agent-client.js';
import { agentFetch } from './agent-fetch.js';
import type { AgentHttp } from './agent-http.js';
import { CallLimits } from './call-limits.js';
import { CallOutcomes, type OutcomeCounter } from './call-outcomes.js';
import { foundingFetch } from './founding-dialect.js';
import type { LocalAgents } from './local-agents.js';
import { LocalAgentClient } from './local-agent-client.js';
import { SdkClients } from './sdk-clients.js';
import { SdkTransport } from './sdk-transport.js';
import { TransportAgentClient } from './transport-agent-client.js';

const logger = new Logger('HttpAgentDirectory');

export interface HttpAgentDirectoryOptions {
  http: AgentHttp;
  /** The agents of this process; asked at each call, since they may call agents themselves. */
  locals?: () => LocalAgents | undefined;
  count?: OutcomeCounter;
  /** Told once per URL that an agent has no card; otherwise that is logged. */
  onCardless?: (url: string) => void;
}

/** Finds agents by URL: this process's own without a socket, all others over HTTP by what their card says. */
export class HttpAgentDirectory extends AgentDirectory {
  readonly #cards: AgentCards;
  readonly #clients: SdkClients;
  readonly #cardlessClients: SdkClients;
  readonly #outcomes: CallOutcomes;
  readonly #cardlessTold = new Set<string>();
  readonly #onCardless: (url: string) => void;

  constructor(private readonly options: HttpAgentDirectoryOptions) {
    super();
    const send = agentFetch(options.http.fetch);
    this.#cards = new AgentCards(options.http);
    this.#clients = new SdkClients(send);
    this.#cardlessClients = new SdkClients(foundingFetch(send));
    this.#outcomes = new CallOutcomes(options.count);
    this.#onCardless =
      options.onCardless ?? ((url) => logger.log({ url }, 'An agent has no card; it is called at its URL'));
  }

  override async client(url: string, options: CallOptions = {}): Promise<AgentClient> {
    const local = this.options.locals?.();
    const path = local?.pathOf(url.replace(CARD_PATH, ''));
    if (local && path !== undefined) {
      return new LocalAgentClient(url, local, path, this.#outcomes);
    }
    using limits = new CallLimits(options);
    const card = await this.#cards.find(url, limits);
    return card === undefined ? this.#withoutCard(url) : this.#withCard(url, card);
  }

  async #withCard(url: string, card: NonNullable<Awaited<ReturnType<AgentCards['find']>>>): Promise<AgentClient> {
    const plain = decodeAgentCard(card);
    const transport = new SdkTransport(await this.#clients.client(card), plain.capabilities.streaming === true);
    return new TransportAgentClient(url, plain, transport, this.#outcomes);
  }

  async #withoutCard(url: string): Promise<AgentClient> {
    if (!this.#cardlessTold.has(url) && this.#cardlessTold.size < 1_000) {
      this.#cardlessTold.add(url);
      this.#onCardless(url);
    }
    const transport = new SdkTransport(await this.#cardlessClients.client(assumedCard(url)), false);
    return new TransportAgentClient(url, undefined, transport, this.#outcomes);
  }
}
