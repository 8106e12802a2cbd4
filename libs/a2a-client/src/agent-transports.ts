import type { AgentCard as SdkAgentCard } from '@a2a-js/sdk';
import { AgentCallError } from './agent-call-error.js';
import type { CallCredentials } from './agent-credentials.js';
import { agentFetch } from './agent-fetch.js';
import type { AgentHttp } from './agent-http.js';
import { type AgentRequest, agentRequest } from './agent-request.js';
import type { AgentTransport } from './agent-transport.js';
import { fetchRequester } from './fetch-requester.js';
import { FOUNDING_DIALECT } from './founding-dialect.js';
import { type JsonRpcEndpoint, JsonRpcTransport } from './json-rpc-transport.js';
import { RecentlyUsed } from './recently-used.js';
import { RestTransport } from './rest-transport.js';
import { LegacyClients } from './legacy-clients.js';
import { SdkTransport } from './sdk-transport.js';

type AgentInterface = SdkAgentCard['supportedInterfaces'][number];

/**
 * Gives the transport for an agent: of JSON-RPC and HTTP+JSON the one that its card names first (section 8.3.2);
 * version 1 before 0.3.
 */
export class AgentTransports {
  readonly #request: AgentRequest;
  readonly #legacy: LegacyClients;
  readonly #ids = new RecentlyUsed<() => number>();

  constructor(http: AgentHttp) {
    this.#request = agentRequest(http.request ?? fetchRequester(http.fetch));
    this.#legacy = new LegacyClients(agentFetch(http.fetch));
  }

  /** @throws AgentCallError `invalid-response` where the card offers nothing that Parley speaks */
  async ofCard(card: SdkAgentCard, credentials?: CallCredentials): Promise<AgentTransport> {
    const streaming = card.capabilities?.streaming === true;
    const reachable = card.supportedInterfaces.filter(({ url }) => /^https?:/i.test(url) && URL.canParse(url));
    const current = preferred(reachable.filter((it) => isSpoken(it.protocolBinding)));
    if (current !== undefined) return this.#transport(current, streaming, credentials);
    const legacy = reachable.filter((it) => it.protocolVersion.startsWith('0.3') && isSpoken(it.protocolBinding));
    if (legacy.length > 0) {
      const client = await this.#legacy.client({ ...card, supportedInterfaces: legacy });
      return new SdkTransport(client, streaming);
    }
    const text = 'the agent card offers neither JSON-RPC nor HTTP+JSON of A2A 1.x or 0.3';
    throw new AgentCallError('invalid-response', text);
  }

  #transport(chosen: AgentInterface, streaming: boolean, credentials?: CallCredentials): AgentTransport {
    if (chosen.protocolBinding.toUpperCase() === 'HTTP+JSON')
      return new RestTransport(this.#request, { ...chosen, credentials }, streaming);
    return new JsonRpcTransport(this.#request, this.#endpoint({ ...chosen, credentials }), streaming);
  }

  /** For an agent that has no card: JSON-RPC at its URL, without streaming. */
  ofUrl(url: string, credentials?: CallCredentials): AgentTransport {
    return new JsonRpcTransport(this.#request, this.#endpoint({ url, credentials }), false, FOUNDING_DIALECT);
  }

  #endpoint({ url, tenant, credentials }: Omit<JsonRpcEndpoint, 'nextId'>): JsonRpcEndpoint {
    return { url, tenant, credentials, nextId: this.#idsOf(url) };
  }

  /** The ids that one endpoint sees grow over all calls (row B6). */
  #idsOf(url: string): () => number {
    let last = 0;
    const ids = this.#ids.get(url) ?? (() => (last += 1));
    this.#ids.set(url, ids);
    return ids;
  }
}

/** The first of version 1.0, else of any 1.x. */
function preferred(interfaces: AgentInterface[]): AgentInterface | undefined {
  const current = interfaces.filter((it) => /^1(\.|$)/.test(it.protocolVersion));
  return current.find((it) => it.protocolVersion === '1.0') ?? current[0];
}

function isSpoken(binding: string): boolean {
  return /^(JSONRPC|HTTP\+JSON)$/i.test(binding);
}
