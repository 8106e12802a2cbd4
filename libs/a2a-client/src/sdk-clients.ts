import type { AgentCard as SdkAgentCard } from '@a2a-js/sdk';
import {
  type Client,
  ClientFactory,
  JsonRpcTransportFactory,
  RestTransportFactory,
  type Transport,
  type TransportFactory,
} from '@a2a-js/sdk/client';
import { AgentCallError } from './agent-call-error.js';

const MAX_TRANSPORTS = 1_000;

/** Gives the SDK's client for a card: JSON-RPC where the agent speaks it, else HTTP+JSON; version 1 before 0.3. */
export class SdkClients {
  readonly #factory: ClientFactory;

  constructor(fetchImpl: typeof fetch) {
    const options = { fetchImpl, legacyCompat: { enabled: true } };
    const transports = [new JsonRpcTransportFactory(options), new RestTransportFactory(options)];
    this.#factory = new ClientFactory({
      transports: transports.map((it) => new KeptTransports(it)),
      preferredTransports: transports.map((it) => it.protocolName),
    });
  }

  /** @throws AgentCallError `invalid-response` where the card offers nothing that Parley speaks */
  client(card: SdkAgentCard): Promise<Client> {
    const supportedInterfaces = spoken(card);
    if (supportedInterfaces.length === 0) {
      const text = 'the agent card offers neither JSON-RPC nor HTTP+JSON of A2A 1.x or 0.3';
      return Promise.reject(new AgentCallError('invalid-response', text));
    }
    return this.#factory.createFromAgentCard({ ...card, supportedInterfaces });
  }
}

function spoken(card: SdkAgentCard): SdkAgentCard['supportedInterfaces'] {
  const reachable = card.supportedInterfaces.filter(
    ({ url, protocolBinding }) => /^https?:/i.test(url) && /^(JSONRPC|HTTP\+JSON)$/i.test(protocolBinding),
  );
  const current = reachable.filter((it) => /^1(\.|$)/.test(it.protocolVersion));
  return current.length > 0 ? current : reachable.filter((it) => it.protocolVersion.startsWith('0.3'));
}

/**
 * Keeps one transport per endpoint, the longest unused one goes first. A transport numbers its JSON-RPC requests:
 * so the ids that one agent sees grow over all calls (row B6).
 */
class KeptTransports implements TransportFactory {
  readonly #kept = new Map<string, Transport>();

  constructor(private readonly factory: TransportFactory) {}

  get protocolName(): string {
    return this.factory.protocolName;
  }

  async create(url: string, card: SdkAgentCard): Promise<Transport> {
    const key = `${card.supportedInterfaces[0]?.protocolVersion} ${url}`;
    const transport = this.#kept.get(key) ?? (await this.factory.create(url, card));
    this.#kept.delete(key);
    this.#kept.set(key, transport);
    const oldest = this.#kept.keys().next();
    if (this.#kept.size > MAX_TRANSPORTS && !oldest.done) this.#kept.delete(oldest.value);
    return transport;
  }
}
