import type { AgentCard as SdkAgentCard } from '@a2a-js/sdk';
import { AgentCallError } from './agent-call-error.js';
import { agentFetch } from './agent-fetch.js';
import type { AgentHttp } from './agent-http.js';
import { type AgentRequest, agentRequest } from './agent-request.js';
import type { AgentTransport } from './agent-transport.js';
import { fetchRequester } from './fetch-requester.js';
import { FOUNDING_DIALECT } from './founding-dialect.js';
import { JsonRpcTransport } from './json-rpc-transport.js';
import { RecentlyUsed } from './recently-used.js';
import { RestTransport } from './rest-transport.js';
import { LegacyClients } from './legacy-clients.js';
import { SdkTransport } from './sdk-transport.js';

type AgentInterface = SdkAgentCard['supportedInterfaces'][number];

/** Gives the transport for an agent: JSON-RPC where the agent speaks it, else HTTP+JSON; version 1 before 0.3. */
export class AgentTransports {
  readonly #request: AgentRequest;
  readonly #legacy: LegacyClients;
  readonly #ids = new RecentlyUsed<() => number>();

  constructor(http: AgentHttp) {
    this.#request = agentRequest(http.request ?? fetchRequester(http.fetch));
    this.#legacy = new LegacyClients(agentFetch(http.fetch));
  }

  /** @throws AgentCallError `invalid-response` where the card offers nothing that Parley speaks */
  async ofCard(card: SdkAgentCard): Promise<AgentTransport> {
    const streaming = card.capabilities?.streaming === true;
    const reachable = card.supportedInterfaces.filter(({ url }) => /^https?:/i.test(url) && URL.canParse(url));
    const current = reachable.filter((it) => /^1(\.|$)/.test(it.protocolVersion));
    const rpc = preferred(current, 'JSONRPC');
    if (rpc) return new JsonRpcTransport(this.#request, { ...rpc, nextId: this.#idsOf(rpc.url) }, streaming);
    const rest = preferred(current, 'HTTP+JSON');
    if (rest) return new RestTransport(this.#request, rest, streaming);
    const legacy = reachable.filter((it) => it.protocolVersion.startsWith('0.3') && isSpoken(it.protocolBinding));
    if (legacy.length > 0) {
      const client = await this.#legacy.client({ ...card, supportedInterfaces: legacy });
      return new SdkTransport(client, streaming);
    }
    const text = 'the agent card offers neither JSON-RPC nor HTTP+JSON of A2A 1.x or 0.3';
    throw new AgentCallError('invalid-response', text);
  }

  /** For an agent that has no card: JSON-RPC at its URL, without streaming. */
  ofUrl(url: string): AgentTransport {
    return new JsonRpcTransport(this.#request, { url, nextId: this.#idsOf(url) }, false, FOUNDING_DIALECT);
  }

  /** The ids that one endpoint sees grow over all calls (row B6). */
  #idsOf(url: string): () => number {
    let last = 0;
    const ids = this.#ids.get(url) ?? (() => (last += 1));
    this.#ids.set(url, ids);
    return ids;
  }
}

function preferred(interfaces: AgentInterface[], binding: string): AgentInterface | undefined {
  const offered = interfaces.filter((it) => it.protocolBinding.toUpperCase() === binding);
  return offered.find((it) => it.protocolVersion === '1.0') ?? offered[0];
}

function isSpoken(binding: string): boolean {
  return /^(JSONRPC|HTTP\+JSON)$/i.test(binding);
}
