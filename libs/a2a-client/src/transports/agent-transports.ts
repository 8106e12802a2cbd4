import type { AgentCard as SdkAgentCard } from '@a2a-js/sdk';
import { LRUCache } from 'lru-cache';
import { briefText } from '#libs/protocol';
import { type ContentLimits, DEFAULT_CONTENT_LIMITS } from '#libs/service';
import { AgentCallError } from '../agent-call-error.js';
import { sdkCalledCard } from '../agent-client.js';
import { type AgentHttp, type AgentRequest, agentRequest, fetchRequester } from '../agent-request.js';
import { type RequestSigners, type RequiredSecurity, securityOf } from '../request-signers.js';
import { agentFetch } from '../v0-3/agent-fetch.js';
import { LegacyClients, SdkTransport } from '../v0-3/sdk-transport.js';
import type { AgentTransport, CallCredentials } from './agent-transport.js';
import { DialectTransport, type SpokenDialect, SpokenDialects } from './dialect-transport.js';
import { FileOpeningTransport, type OutgoingFiles } from './file-opening-transport.js';
import { type JsonRpcDialect, type JsonRpcEndpoint, JsonRpcTransport } from './json-rpc-transport.js';
import { RestTransport } from './rest-transport.js';
import { SigningTransport } from './signing-transport.js';

type SdkAgentInterface = SdkAgentCard['supportedInterfaces'][number];

/** Agent at the URL that its caller named. */
export interface AddressedAgent {
  url: string;
  credentials?: CallCredentials;
}

/** Settings of transports beside the agent. */
export interface AgentTransportsOptions {
  /** Signers for calls that name a credential; absent: such calls go out unsigned. */
  signers?: RequestSigners;
  /** Opens files of this service to remote agents. */
  files?: OutgoingFiles;
  /** Limits of agents' answers; the defaults unless set otherwise. */
  content?: ContentLimits;
  /** Milliseconds for which the detected dialect of an agent is remembered; default one minute. */
  dialectMaxAge?: number;
}

const DIALECT_MAX_AGE_MS = 60_000;

/**
 * Creates transports for agents: for JSON-RPC or HTTP+JSON, whichever the card names first (section 8.3.2); version 1
 * before 0.3.
 */
export class AgentTransports {
  readonly #request: AgentRequest;
  readonly #legacy: LegacyClients;
  readonly #ids = new LRUCache<string, () => number>({ max: 1_000 });
  readonly #dialects: SpokenDialects;

  constructor(
    http: AgentHttp,
    private readonly options: AgentTransportsOptions = {},
  ) {
    const { content = DEFAULT_CONTENT_LIMITS, dialectMaxAge = DIALECT_MAX_AGE_MS } = options;
    this.#dialects = new SpokenDialects(dialectMaxAge);
    this.#request = agentRequest(http.request ?? fetchRequester(http.fetch), content);
    this.#legacy = new LegacyClients(agentFetch(http.fetch, content));
  }

  /**
   * Creates the transport that a card offers. @throws AgentCallError `invalid-response` if Parley supports none of its
   * interfaces
   */
  async ofCard(card: SdkAgentCard, agent: AddressedAgent): Promise<AgentTransport> {
    const streaming = card.capabilities?.streaming === true;
    const chosen = chosenInterface(card);
    const transport = isLegacy(chosen)
      ? new SdkTransport(await this.#legacy.createClient(asOf03(card, chosen)), streaming)
      : this.#openTransport(chosen, streaming, agent.credentials);
    return this.#wrapTransport(transport, agent, chosen.url, securityOf(card));
  }

  /**
   * Creates the transport for an agent of the pre-1.0 dialect, by its card or its caller.
   * @throws AgentCallError `invalid-response` if the card has no callable URL
   */
  ofPre10Card(card: SdkAgentCard, agent: AddressedAgent): AgentTransport {
    const { url } = chosenInterface(card);
    return this.#wrapTransport(this.#openUndeclared(url, 'pre-1.0', agent.credentials), agent, url, securityOf(card));
  }

  /**
   * Creates the transport for an agent without a card: JSON-RPC at its URL, without streaming.
   * @param first dialect to start with if none is remembered
   */
  ofUrl(agent: AddressedAgent, first: SpokenDialect): AgentTransport {
    const { url, credentials } = agent;
    return this.#wrapTransport(this.#openUndeclared(url, first, credentials), agent, url);
  }

  #openUndeclared(url: string, first: SpokenDialect, credentials?: CallCredentials): AgentTransport {
    const endpoint = this.#createEndpoint({ url, credentials });
    const openDialect = (dialect: JsonRpcDialect) => new JsonRpcTransport(this.#request, endpoint, false, dialect);
    return new DialectTransport({ endpoint: url, first, openDialect }, this.#dialects);
  }

  #openTransport(chosen: SdkAgentInterface, streaming: boolean, credentials?: CallCredentials): AgentTransport {
    const { url, tenant } = chosen;
    if (chosen.protocolBinding.toUpperCase() === 'HTTP+JSON')
      return new RestTransport(this.#request, { url, tenant, credentials }, streaming);
    return new JsonRpcTransport(this.#request, this.#createEndpoint({ url, tenant, credentials }), streaming);
  }

  #wrapTransport(
    transport: AgentTransport,
    agent: AddressedAgent,
    endpoint: string,
    security?: RequiredSecurity,
  ): AgentTransport {
    const { signers, files } = this.options;
    // Agents of this service read the files by their URLs; only they get credentials.
    const isElsewhere = agent.credentials === undefined;
    const opening = files && isElsewhere ? new FileOpeningTransport(transport, files) : transport;
    if (signers === undefined) return opening;
    const signed = { agentUrl: agent.url, endpoint: new URL(endpoint), ...(security && { security }) };
    return new SigningTransport(opening, signers, signed);
  }

  #createEndpoint({ url, tenant, credentials }: Omit<JsonRpcEndpoint, 'nextId'>): JsonRpcEndpoint {
    return { url, tenant, credentials, nextId: this.#idsOf(url) };
  }

  /** Returns the request ids of an endpoint, which increase over all its calls: 1, 2, 3, …. */
  #idsOf(url: string): () => number {
    let last = 0;
    const ids = this.#ids.get(url) ?? (() => (last += 1));
    this.#ids.set(url, ids);
    return ids;
  }
}

/**
 * Returns the first supported interface of a card; for 0.3, JSON-RPC first. @throws AgentCallError `invalid-response`
 */
function chosenInterface(card: SdkAgentCard): SdkAgentInterface {
  const reachable = card.supportedInterfaces.filter(({ url }) => /^https?:/i.test(url) && URL.canParse(url));
  const spoken = reachable.filter((it) => isSpoken(it.protocolBinding));
  const legacy = spoken.filter(isLegacy);
  const chosen =
    findPreferredInterface(spoken) ?? legacy.find((it) => /^JSONRPC$/i.test(it.protocolBinding)) ?? legacy[0];
  if (chosen !== undefined) return chosen;
  const relative = card.supportedInterfaces.find(({ url }) => !URL.canParse(url));
  if (relative !== undefined) {
    const text = `the agent card names the URL "${briefText(relative.url)}", which must be absolute`;
    throw new AgentCallError('invalid-response', text);
  }
  const text = 'the agent card offers neither JSON-RPC nor HTTP+JSON of A2A 1.x or 0.3';
  throw new AgentCallError('invalid-response', text);
}

/** True for an interface of 0.2 or 0.3, which are equal on the wire. */
function isLegacy({ protocolVersion }: SdkAgentInterface): boolean {
  return /^0\.[23](\.|$)/.test(protocolVersion);
}

/** Returns the card that the SDK's client needs, as 0.3, the oldest version it knows. */
function asOf03(card: SdkAgentCard, { url, tenant, protocolBinding }: SdkAgentInterface): SdkAgentCard {
  return sdkCalledCard(card, { url, tenant, protocolBinding, protocolVersion: '0.3' });
}

/** Returns the first interface of 1.0, else of any 1.x. */
function findPreferredInterface(interfaces: SdkAgentInterface[]): SdkAgentInterface | undefined {
  const current = interfaces.filter((it) => /^1(\.|$)/.test(it.protocolVersion));
  return current.find((it) => it.protocolVersion === '1.0') ?? current[0];
}

function isSpoken(binding: string): boolean {
  return /^(JSONRPC|HTTP\+JSON)$/i.test(binding);
}
