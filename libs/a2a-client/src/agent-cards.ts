import type { AgentCard as SdkAgentCard } from '@a2a-js/sdk';
import { DefaultAgentCardResolver } from '@a2a-js/sdk/client';
import { LRUCache } from 'lru-cache';
import {
  type AgentCard,
  encodeAgentCard,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  urlProblem,
  withoutTrailing,
} from '#libs/protocol';
import type { AnswerPlace, ContentLimits } from '#libs/service';
import { AgentCallError } from './agent-call-error.js';
import type { AgentCallOptions } from './agent-client.js';
import { type AgentHttp, type AgentRequest, agentRequest, fetchRequester } from './agent-request.js';
import type { CallAttempt, CallDeadlines } from './call-deadlines.js';
import { tryParseObject } from './call-failure.js';
import { exchangeOnce } from './exchange.js';
import { keepSecurity } from './request-signers.js';

const WELL_KNOWN = '/.well-known/agent-card.json';

/**
 * Pattern for the end of an agent card's URL: the well-known path of A2A 0.3 and 1.0, the well-known path of A2A 0.2
 * (`agent.json`), or the path of the pre-1.0 dialect (`/agent-card`). The pre-1.0 dialect is a protocol older than all
 * versions of A2A (docs/PROTOCOLS.md).
 */
export const CARD_PATH = /\/((\.well-known\/)?agent-card(\.json)?|\.well-known\/agent\.json)$/;

/**
 * Returns the URL of an agent's own card: `url` itself if it ends as the URL of a card does (CARD_PATH), otherwise the
 * well-known path below `url`.
 */
export function ownCardUrl(url: string): string {
  return CARD_PATH.test(url) ? url : `${withoutTrailing(url, '/')}${WELL_KNOWN}`;
}

/** Returns the well-known URL of the card of an agent's host. The host's card may also describe the agent. */
export function hostCardUrl(url: string): string {
  return `${new URL(url).origin}${WELL_KNOWN}`;
}

/** Returns the URLs where an agent of A2A 0.2 may have its card (`agent.json`): below its URL, and below its host. */
function legacyCardUrls(url: string): string[] {
  const places = [withoutTrailing(url, '/'), new URL(url).origin];
  return [...new Set(places)].map((place) => `${place}/.well-known/agent.json`);
}

/** Returns the URL where an agent of the pre-1.0 dialect has its card: `/agent-card` below the agent's URL. */
export function pre10CardUrl(url: string): string {
  return `${withoutTrailing(url, '/')}/agent-card`;
}

/** True for a URL that ends in `/agent-card`, where only agents of the pre-1.0 dialect have their card. */
function isPre10CardUrl(url: string): boolean {
  return new URL(url).pathname.endsWith('/agent-card');
}

/** True if a URL, as `URL.href` writes it, names an agent or a card of the service at one of these base URLs. */
export function isOfService(url: string, bases: readonly string[]): boolean {
  return bases.some(
    (base) => url === `${base}/a2a` || url.startsWith(`${base}/a2a/`) || url === `${base}${WELL_KNOWN}`,
  );
}

/** Agent card as received. The same text from the same URL gives the same object while the card is cached. */
export interface ReceivedCard {
  /** URL that the card was read from. */
  readonly url: string;
  /** JSON text of the card, as received. */
  readonly text: string;
  /** Card in the SDK's form, which clients use. */
  readonly card: SdkAgentCard;
}

/** Decides by an agent's card whether the agent may be called. */
export abstract class CardGuard {
  /**
   * Asserts by the card of a remote agent that the agent may be called. Called whenever a client or a card is resolved.
   * Returns `undefined` instead of a Promise if no check is necessary, for example because the same card was admitted
   * shortly before.
   * @param agentUrl URL as the caller named it
   * @param received card of the agent; `undefined` if the agent has no card
   * @throws AgentCallError `untrusted-card` or `changed-card`; `connect` if the decision is not possible at the moment
   */
  abstract admitCard(
    agentUrl: string,
    received: ReceivedCard | undefined,
    options: AgentCallOptions,
  ): Promise<void> | undefined;

  /**
   * Returns the pinned card of an agent; `undefined` if none is pinned, or if signatures are required and the pinned
   * card has no valid one.
   */
  abstract findPinnedCard(agentUrl: string, options: Pick<AgentCallOptions, 'scope'>): Promise<JsonObject | undefined>;
}

const BYTES_OF_A_CHARACTER = 2;
const BYTES_OF_A_VALUE = 16;
const BYTES_OF_AN_OBJECT = 64;

/**
 * Estimates the bytes of memory that a parsed JSON value takes. They can be many times the length of its JSON text, if
 * the value has many members.
 */
export function heldBytes(value: unknown): number {
  if (typeof value === 'string') return BYTES_OF_A_VALUE + value.length * BYTES_OF_A_CHARACTER;
  if (typeof value !== 'object' || value === null) return BYTES_OF_A_VALUE;
  let bytes = BYTES_OF_AN_OBJECT;
  if (Array.isArray(value)) for (const element of value) bytes += heldBytes(element);
  else for (const [name, member] of Object.entries(value)) bytes += heldBytes(name) + heldBytes(member);
  return bytes;
}

/** Reader that also accepts cards of A2A 0.2 and 0.3, and converts them to cards of 1.0. */
const READER = new DefaultAgentCardResolver({ legacyCompat: { enabled: true } });

const HEADERS = { accept: 'application/json', 'a2a-version': '1.0' };
/** Maximum number of bytes of a card's text, after decompression. */
const MAX_CARD_BYTES = 2 * 1024 * 1024;
/** Maximum number of characters of a cached card's text. A larger card is read again for each call. */
const MAX_KEPT_LENGTH = 64 * 1024;
/** Maximum size of one cached card in memory, in bytes. A larger card is read again for each call. */
const MAX_KEPT_BYTES = 1024 * 1024;
/** Maximum number of characters of an interface's tenant, which is sent with each request. */
const LONGEST_TENANT = 2_048;
/** Maximum size of all cached cards together in memory, in bytes. */
const MOST_KEPT_BYTES = 16 * 1024 * 1024;

/** Cached card, its text, and the time until which the card is used without a request to the agent. */
interface KeptCard {
  text: string;
  card: SdkAgentCard | undefined;
  freshUntil: number;
  /** Size of the cached card in memory, in bytes. */
  size: number;
}

/** Options for reading a card that differ from call to call. */
export interface CardReading {
  credentials?: Readonly<Record<string, string>> | undefined;
  /**
   * Place of the card in ReceivedAnswers, which limits the memory of all answers that are being received. Absent: the
   * memory of the card is not limited while it is read.
   */
  place?: AnswerPlace | undefined;
}

/**
 * Finds and caches the cards of agents.
 *
 * - A URL that is itself the URL of a card (CARD_PATH) is read directly. For any other URL, these places are tried in
 *   this order: the well-known path below the URL, the well-known path below the URL's host, the paths of A2A 0.2, and
 *   the path of the pre-1.0 dialect.
 * - While a card is cached, the same text gives the same card object, so values derived from a card can be cached by
 *   the object.
 */
export class AgentCardReader {
  readonly #request: AgentRequest;
  readonly #freshUntil: NonNullable<AgentHttp['freshUntil']>;
  readonly #kept = new LRUCache<string, KeptCard>({
    max: 1_000,
    maxSize: MOST_KEPT_BYTES,
    sizeCalculation: ({ size }) => size,
  });
  readonly #sizes = new WeakMap<SdkAgentCard, number>();
  readonly #received = new WeakMap<SdkAgentCard, ReceivedCard>();
  readonly #pre10 = new WeakSet<SdkAgentCard>();

  constructor(http: Omit<AgentHttp, 'fetch'>, content?: ContentLimits) {
    this.#request = agentRequest(http.cachedRequest ?? fetchRequester(http.cachedFetch), content);
    this.#freshUntil = http.freshUntil ?? (() => 0);
  }

  /** Returns the cached card of an agent, without a request, while the card is fresh by HTTP caching rules. */
  findFreshCard(url: string): SdkAgentCard | undefined {
    const kept = this.#kept.get(ownCardUrl(url));
    return kept !== undefined && Date.now() < kept.freshUntil ? kept.card : undefined;
  }

  /** Returns the URL and the text of a card as received; `undefined` if this reader did not read the card. */
  findReceivedCard(card: SdkAgentCard): ReceivedCard | undefined {
    return this.#received.get(card);
  }

  /** Returns the size in memory of a cached card, in bytes; `undefined` if the card is read again for each call. */
  keptBytes(card: SdkAgentCard): number | undefined {
    return this.#sizes.get(card);
  }

  /** True for a card that was read from the URL of the pre-1.0 dialect and names no version of A2A. */
  isPre10(card: SdkAgentCard): boolean {
    return this.#pre10.has(card);
  }

  /**
   * Finds the card of an agent.
   * @param url base or card URL of the agent
   * @returns the card in the SDK's form; `undefined` if the agent has no card: the agent is then called at `url`
   * @throws AgentCallError if a request fails, the card is invalid, or a card URL has no card
   */
  async findCard(url: string, limits: CallDeadlines, reading: CardReading = {}): Promise<SdkAgentCard | undefined> {
    const { pathname } = parseHttpUrl(url);
    if (CARD_PATH.test(pathname)) {
      const card = await this.#readCardAt(url, limits, reading);
      if (card === undefined) throw new AgentCallError('invalid-response', 'there is no agent card at the URL');
      return card;
    }
    const own = await this.#readCardAt(ownCardUrl(url), limits, reading);
    if (own !== undefined) return own;
    const host = pathname === '/' ? undefined : await this.#readCardAt(hostCardUrl(url), limits, reading);
    if (host !== undefined && !isAboveUrl(host, url)) return host;
    const legacy = host === undefined ? await this.#findLegacy(url, limits, reading) : undefined;
    return legacy ?? this.#readCardAt(pre10CardUrl(url), limits, reading);
  }

  /**
   * Finds the card of an agent of A2A 0.2; `undefined` if there is none. A card of 1.0 at the URLs of 0.2 is ignored.
   */
  async #findLegacy(url: string, limits: CallDeadlines, reading: CardReading): Promise<SdkAgentCard | undefined> {
    for (const place of legacyCardUrls(url)) {
      const card = await this.#readCardAt(place, limits, reading);
      if (card !== undefined) return isLegacyCard(card) && !isAboveUrl(card, url) ? card : undefined;
    }
    return undefined;
  }

  async #readCardAt(url: string, limits: CallDeadlines, reading: CardReading): Promise<SdkAgentCard | undefined> {
    const target = parseHttpUrl(url);
    const { credentials, place } = reading;
    const call = { url: target, method: 'GET', headers: { ...HEADERS, ...credentials }, place } as const;
    try {
      const readCardText = async ({ signal }: CallAttempt): Promise<string> => {
        const answer = await this.#request({ ...call, maxBytes: MAX_CARD_BYTES, signal });
        return answer.readText();
      };
      const text = await exchangeOnce(limits, readCardText, limits.timeouts.refused);
      return this.#keepCard(url, text, this.#freshUntil(target, HEADERS));
    } catch (error) {
      if (error instanceof AgentCallError && isAbsence(error)) return undefined;
      throw error;
    }
  }

  #keepCard(url: string, text: string, freshUntil: number): SdkAgentCard | undefined {
    const kept = this.#kept.get(url);
    if (kept?.text === text) {
      kept.freshUntil = freshUntil;
      return kept.card;
    }
    this.#kept.delete(url);
    const card = readAgentCard(text);
    if (card !== undefined) {
      this.#received.set(card, { url, text, card });
      if (isPre10Card(url, tryParseObject(text) ?? {})) this.#pre10.add(card);
    }
    if (text.length > MAX_KEPT_LENGTH) return card;
    const size = heldBytes(text) + heldBytes(card);
    if (size > MAX_KEPT_BYTES) return card;
    if (card !== undefined) this.#sizes.set(card, size);
    this.#kept.set(url, { text, card, freshUntil, size });
    return card;
  }
}

/**
 * Reads a card of 1.0, or converts one of 0.2 or 0.3; `undefined` if the text is not a card.
 * @throws AgentCallError `invalid-response` for a card with invalid members
 */
export function readAgentCard(text: string): SdkAgentCard | undefined {
  try {
    return readCard(text);
  } catch (cause) {
    if (cause instanceof AgentCallError) throw cause;
    throw new AgentCallError('invalid-response', 'the agent card is not one of A2A', { cause });
  }
}

/** True for a card of the pre-1.0 dialect: its URL ends in `/agent-card`, and no member names a version of A2A. */
export function isPre10Card(url: string, card: JsonObject): boolean {
  return isPre10CardUrl(url) && VERSION_MEMBERS.every((member) => card[member] === undefined);
}

const VERSION_MEMBERS = ['protocolVersion', 'supportedInterfaces', 'supported_interfaces', 'preferredTransport'];

function isLegacyCard({ supportedInterfaces }: SdkAgentCard): boolean {
  return supportedInterfaces.every(({ protocolVersion }) => protocolVersion.startsWith('0.'));
}

function parseHttpUrl(url: string): URL {
  if (!URL.canParse(url) || !/^https?:/i.test(url)) throw new AgentCallError('refused', 'the URL is not an HTTP URL');
  return new URL(url);
}

/**
 * True if the error means that a URL has no card: HTTP 4xx except 429, or 501. An agent without a card may still
 * answer calls at its URL.
 */
function isAbsence({ kind, code, rateLimited }: AgentCallError): boolean {
  if (rateLimited) return false;
  return (
    kind === 'client-error' || kind === 'unauthorized' || kind === 'rpc-error' || kind === 'not-found' || code === 501
  );
}

function readCard(body: string): SdkAgentCard | undefined {
  const json = tryParseObject(body);
  if (typeof json?.name !== 'string') return undefined;
  const interfaces = json.supportedInterfaces ?? json.supported_interfaces;
  if (Array.isArray(interfaces) && interfaces.length > 0)
    return keepSecurity(requireCallableCard(encodeAgentCard(json as unknown as AgentCard)), json);
  if (typeof json.url !== 'string') return undefined;
  return keepSecurity(requireCallableCard(READER.normalizeAgentCard(readableLegacyCard(json))), json);
}

/**
 * Returns the card after a check that its URLs may be shown, stored and called.
 * @throws AgentCallError `invalid-response` if a URL has a password or is too long, or a tenant is too long
 */
function requireCallableCard(card: SdkAgentCard): SdkAgentCard {
  const problem = card.supportedInterfaces.map(({ url }) => urlProblem(url)).find((it) => it !== undefined);
  if (problem !== undefined)
    throw new AgentCallError('invalid-response', `the agent card is refused: its URLs ${problem}`);
  if (!card.supportedInterfaces.some(({ tenant }) => tenant.length > LONGEST_TENANT)) return card;
  const text = `the agent card is refused: a tenant has more than ${LONGEST_TENANT} characters`;
  throw new AgentCallError('invalid-response', text);
}

/**
 * True if a URL is below an endpoint in the card of the URL's host, such as `https://host/a/b` below `https://host/a`.
 * The card then describes another agent than the one at the URL.
 */
export function isAboveUrl(card: SdkAgentCard, url: string): boolean {
  return card.supportedInterfaces.some((it) => {
    const endpoint = withoutTrailing(it.url, '/');
    return URL.canParse(endpoint) && new URL(endpoint).pathname !== '/' && url.startsWith(`${endpoint}/`);
  });
}

/**
 * Returns a card of A2A 0.2 or 0.3 in a form that the SDK accepts: missing lists become empty, and unknown security
 * schemes are left out. The SDK would reject the card otherwise, although the agent can be called.
 */
function readableLegacyCard(card: JsonObject): JsonObject {
  const { securitySchemes } = card;
  return {
    ...card,
    capabilities: isJsonObject(card.capabilities) ? card.capabilities : {},
    defaultInputModes: listOf(card.defaultInputModes),
    defaultOutputModes: listOf(card.defaultOutputModes),
    skills: listOf(card.skills)
      .filter(isJsonObject)
      .map((skill) => ({ ...skill, tags: listOf(skill.tags) })),
    ...(isJsonObject(securitySchemes) && { securitySchemes: knownSchemes(securitySchemes) }),
  };
}

const SCHEMES = new Set<JsonValue | undefined>(['apiKey', 'http', 'openIdConnect', 'mutualTLS']);
const FLOWS = ['authorizationCode', 'clientCredentials', 'implicit', 'password'];

function knownSchemes(schemes: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schemes).filter(([, scheme]) => isJsonObject(scheme) && isKnown(scheme)));
}

function isKnown({ type, flows }: JsonObject): boolean {
  if (type === 'oauth2') return isJsonObject(flows) && FLOWS.some((flow) => isJsonObject(flows[flow]));
  return SCHEMES.has(type);
}

function listOf(value: JsonValue | undefined): JsonValue[] {
  return Array.isArray(value) ? value : [];
}
