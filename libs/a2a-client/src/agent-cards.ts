import type { AgentCard as SdkAgentCard } from '@a2a-js/sdk';
import { DefaultAgentCardResolver } from '@a2a-js/sdk/client';
import { type AgentCard, encodeAgentCard, isJsonObject, type JsonObject } from '#libs/protocol';
import { AgentCallError } from './agent-call-error.js';
import { agentFetch } from './agent-fetch.js';
import type { AgentHttp } from './agent-http.js';
import type { CallLimits } from './call-limits.js';
import { once } from './exchange.js';

const WELL_KNOWN = '/.well-known/agent-card.json';
/** The end of a URL that names a card, at its well-known place or at the founding one. */
export const CARD_PATH = /\/(\.well-known\/)?agent-card(\.json)?$/;

/** Reads cards of the protocol's version 0.3 too and gives them in the form of 1.0. */
const READER = new DefaultAgentCardResolver({ legacyCompat: { enabled: true } });

/** Finds the card of an agent: at its URL if that names a card, else under the URL, else at the origin. */
export class AgentCards {
  readonly #fetch: typeof fetch;

  constructor(http: Pick<AgentHttp, 'cachedFetch'>) {
    this.#fetch = agentFetch(http.cachedFetch);
  }

  /**
   * @returns the card in the SDK's form; `undefined` where the agent has none and its URL is its endpoint
   * @throws AgentCallError
   */
  async find(url: string, limits: CallLimits): Promise<SdkAgentCard | undefined> {
    const { origin, pathname } = parsed(url);
    if (CARD_PATH.test(pathname)) {
      const card = await this.#read(url, limits);
      if (card === undefined) throw new AgentCallError('invalid-response', 'there is no agent card at the URL');
      return card;
    }
    const own = await this.#read(`${url.replace(/\/+$/, '')}${WELL_KNOWN}`, limits);
    if (own !== undefined || pathname === '/') return own;
    const host = await this.#read(`${origin}${WELL_KNOWN}`, limits);
    return host && !isAboveUrl(host, url) ? host : undefined;
  }

  async #read(url: string, limits: CallLimits): Promise<SdkAgentCard | undefined> {
    const headers = { Accept: 'application/json', 'A2A-Version': '1.0' };
    try {
      const body = await once(limits, async (signal) => {
        const response = await this.#fetch(url, { headers, signal });
        return response.text();
      });
      return readCard(body);
    } catch (error) {
      if (error instanceof AgentCallError && isAbsence(error)) return undefined;
      throw error;
    }
  }
}

/** The card of an agent that has none: JSON-RPC of A2A 1.0 at its URL, without streaming. */
export function assumedCard(url: string): SdkAgentCard {
  const card: AgentCard = {
    name: url,
    description: '',
    version: '',
    supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    capabilities: { streaming: false },
    defaultInputModes: [],
    defaultOutputModes: [],
    skills: [],
  };
  return encodeAgentCard(card);
}

function parsed(url: string): URL {
  if (!URL.canParse(url) || !/^https?:/i.test(url)) throw new AgentCallError('refused', 'the URL is not an HTTP URL');
  return new URL(url);
}

/** An agent that answers 4xx or 501 where its card should be has no card; it may still answer at its URL. */
function isAbsence({ kind, code }: AgentCallError): boolean {
  return kind === 'client-error' || kind === 'rpc-error' || kind === 'not-found' || code === 501;
}

function readCard(body: string): SdkAgentCard | undefined {
  const json = objectOf(body);
  if (typeof json?.name !== 'string') return undefined;
  const interfaces = json.supportedInterfaces ?? json.supported_interfaces;
  if (Array.isArray(interfaces) && interfaces.length > 0) return encodeAgentCard(json as unknown as AgentCard);
  return typeof json.url === 'string' ? READER.normalizeAgentCard(json) : undefined;
}

function objectOf(body: string): JsonObject | undefined {
  try {
    const json: unknown = JSON.parse(body);
    return isJsonObject(json) ? json : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a URL lies below the endpoint of its host's card: it then names another agent of the same host. */
function isAboveUrl(card: SdkAgentCard, url: string): boolean {
  return card.supportedInterfaces.some((it) => {
    const endpoint = it.url.replace(/\/+$/, '');
    return URL.canParse(endpoint) && new URL(endpoint).pathname !== '/' && url.startsWith(`${endpoint}/`);
  });
}
