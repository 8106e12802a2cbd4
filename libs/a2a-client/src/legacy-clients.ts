import type { AgentCard as SdkAgentCard } from '@a2a-js/sdk';
import {
  type Client,
  ClientFactory,
  JsonRpcTransportFactory,
  RestTransportFactory,
  type Transport,
  type TransportFactory,
} from '@a2a-js/sdk/client';
import { LRUCache } from 'lru-cache';

/** Creates the SDK's clients for agents of A2A 0.3. */
export class LegacyClients {
  readonly #factory: ClientFactory;

  constructor(fetchImpl: typeof fetch) {
    const options = { fetchImpl, legacyCompat: { enabled: true } };
    const transports = [new JsonRpcTransportFactory(options), new RestTransportFactory(options)];
    this.#factory = new ClientFactory({
      transports: transports.map((it) => new KeptTransports(it)),
      preferredTransports: transports.map((it) => it.protocolName),
    });
  }

  createClient(card: SdkAgentCard): Promise<Client> {
    return this.#factory.createFromAgentCard(card);
  }
}

/**
 * Keeps one transport per endpoint. Transports number their JSON-RPC requests, so an agent sees increasing ids over all
 * calls.
 */
class KeptTransports implements TransportFactory {
  readonly #kept = new LRUCache<string, Transport>({ max: 1_000 });

  constructor(private readonly factory: TransportFactory) {}

  get protocolName(): string {
    return this.factory.protocolName;
  }

  async create(url: string, card: SdkAgentCard): Promise<Transport> {
    const transport = this.#kept.get(url) ?? (await this.factory.create(url, card));
    this.#kept.set(url, transport);
    return transport;
  }
}
