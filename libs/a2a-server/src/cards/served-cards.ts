import type { FastifyReply, FastifyRequest } from 'fastify';
import { FlattenedSign } from 'jose';
import { LRUCache } from 'lru-cache';
import { createHash } from 'node:crypto';
import type { CallContext, ServedAgent } from '#libs/agents';
import { JWKS_PATH, SIGNATURE_TYPES, type SigningKeys } from '#libs/http-server';
import {
  A2AError,
  type AgentCard,
  type AgentCardSignature,
  canonicalAgentCard,
  canonicalJson,
  compactCardText,
  encodeAgentCard,
} from '#libs/protocol';
import type { PublicAddress } from '../http/call-context.js';
import { agentCard, type CardOptions, type CardSecurity, extendedCard, withLegacyMembers } from './agent-card.js';

/**
 * Recognizes the base URLs that are known to belong to this service. Any other base URL comes from a Host header, which
 * a caller can choose.
 */
export interface AddressAuthority {
  isOwnAddress(baseUrl: string): boolean;
}

/**
 * Signs agent cards (section 8.4): a JWS over the canonical form of the card, with the key of
 * `/.well-known/jwks.json`, which the protected header names as `jku`. If the official SDKs verify another text, because
 * parameters of an extension are empty (`{}`, `[]`, `""`, null), the card has a second signature over that text. A card whose base URL AddressAuthority does
 * not recognize is not signed: that URL comes from the Host header, so a caller could choose it.
 */
export class CardSigner {
  private readonly kept = new LRUCache<string, Promise<AgentCardSignature[]>>({ max: 1_000 });

  constructor(
    private readonly keys: Pick<SigningKeys, 'getSigningKey'>,
    private readonly address: AddressAuthority,
  ) {}

  /**
   * Returns the signatures of a card; `undefined` for a base URL that AddressAuthority does not recognize. Cards with
   * equal content get the same signatures while these are cached (for a thousand cards).
   * @param digest digest of the card's content
   */
  async signCard(card: AgentCard, baseUrl: string, digest: string): Promise<AgentCardSignature[] | undefined> {
    if (!this.address.isOwnAddress(baseUrl)) return undefined;
    const known = this.kept.get(digest);
    if (known) return known;
    const made = this.createSignatures(card, baseUrl);
    this.kept.set(digest, made);
    made.catch(() => this.kept.delete(digest));
    return made;
  }

  private async createSignatures(card: AgentCard, baseUrl: string): Promise<AgentCardSignature[]> {
    const { kid, key } = await this.keys.getSigningKey();
    const header = { alg: 'ES256', typ: SIGNATURE_TYPES.card, kid, jku: `${baseUrl}${JWKS_PATH}` };
    const encoded = encodeAgentCard(card);
    const texts = new Set([canonicalJson(canonicalAgentCard(encoded)), compactCardText(encoded)]);
    return Promise.all(
      Array.from(texts, async (text) => {
        const jws = await new FlattenedSign(Buffer.from(text)).setProtectedHeader(header).sign(key);
        return { protected: jws.protected as string, signature: jws.signature };
      }),
    );
  }
}

export interface ServedCardsOptions {
  address: PublicAddress;
  pushNotifications?: boolean;
  /** Authentication that cards declare; absent if none is required. */
  security?: CardSecurity;
  /** Signer of cards; absent: cards are not signed. */
  signer?: CardSigner;
  /** Milliseconds that readers may keep a card without revalidation; absent: 0. */
  maxAgeMs?: number;
}

/** Serialized document, such as an agent card, with the values of its headers. */
export interface WrittenDocument {
  json: string;
  /**
   * Entity tag of the content without signatures. Signatures of two replicas differ, but the documents are equivalent
   * (RFC 9110, section 8.8.1).
   */
  etag: string;
  /** Time of the document's last change; absent if unknown. */
  changedAt?: Date;
  /** Media type; absent: `application/json`. */
  type?: string;
}

/** Facts about the reader of a card: the A2A version that it expects, and the agent's URL that it requested. */
export interface CardReader {
  baseUrl: string;
  /** Path that the reader used; for the alias of a node, the alias. */
  path: string;
  /** True if the card gets the members of 0.3. */
  legacy: boolean;
}

/**
 * Returns the agent as its card shows it. As `inputModes` of the agent and of each skill, the card lists the media
 * types of Messages that begin a Task (`beginModes`). `isLookedUp` is true if `beginModes` returned a promise.
 */
async function withBeginModes(agent: ServedAgent): Promise<{ agent: ServedAgent; isLookedUp: boolean }> {
  const found = agent.beginModes?.();
  const modes = await found;
  const isLookedUp = found instanceof Promise;
  if (modes === undefined) return { agent, isLookedUp };
  const inputModes = [...modes];
  const withModes = (skills: ServedAgent['skills']) => skills.map((skill) => ({ ...skill, inputModes }));
  const details = async () => {
    const whole = (await agent.details?.()) ?? { skills: agent.skills, schemas: {} };
    return { ...whole, skills: withModes(whole.skills) };
  };
  return { agent: { ...agent, inputModes, skills: withModes(agent.skills), details }, isLookedUp };
}

/** Builds, signs and serializes the cards of the agents that this process serves. */
export class ServedCards {
  private readonly since = new Date();

  constructor(private readonly options: ServedCardsOptions) {}

  /** True if callers are authenticated: cards may then depend on the caller, and no shared cache may keep them. */
  get personal(): boolean {
    return this.options.security !== undefined;
  }

  get maxAgeMs(): number {
    return this.options.maxAgeMs ?? 0;
  }

  /** Returns the public card of an agent. */
  async publicCard(served: ServedAgent, { baseUrl, path, legacy }: CardReader): Promise<WrittenDocument> {
    const { agent, isLookedUp } = await withBeginModes(served);
    const card = agentCard(agent, baseUrl, path, this.cardOptions(baseUrl));
    // An alias may lead to another agent later, whose last change is earlier. What is looked up may change at any time.
    const changedAt = path === agent.path && !isLookedUp ? this.changeOf(agent) : undefined;
    return this.writeSignedCard(legacy ? withLegacyMembers(card) : card, baseUrl, changedAt);
  }

  /**
   * Returns the extended card of an agent (sections 3.1.11 and 13.3), in the protocol version of the caller.
   * @throws A2AError UNSUPPORTED_OPERATION if no authentication is required
   */
  async extendedCard(
    agent: ServedAgent,
    call: Pick<CallContext, 'agent' | 'baseUrl' | 'protocolVersion'>,
  ): Promise<AgentCard> {
    if (!this.personal) {
      throw new A2AError('UNSUPPORTED_OPERATION', { message: 'This agent has no extended agent card' });
    }
    const { baseUrl } = call;
    const { agent: shown } = await withBeginModes(agent);
    const card = await extendedCard(shown, baseUrl, call.agent, this.cardOptions(baseUrl));
    return this.withSignature(call.protocolVersion === '0.3' ? withLegacyMembers(card) : card, baseUrl);
  }

  /** Returns the card of an agent with the members of 0.3: the extended card, or else the public card. */
  async legacyCard(agent: ServedAgent, { agent: path, baseUrl }: CallContext): Promise<AgentCard> {
    if (agent.gone) throw agent.gone;
    if (this.personal) return this.extendedCard(agent, { agent: path, baseUrl, protocolVersion: '0.3' });
    return JSON.parse((await this.publicCard(agent, { baseUrl, path, legacy: true })).json) as AgentCard;
  }

  /** Serializes an extended card. */
  writtenCard(agent: ServedAgent, { signatures, ...content }: AgentCard): WrittenDocument {
    const etag = `${signatures ? 'W/' : ''}"${digestOf(JSON.stringify(content))}"`;
    const json = JSON.stringify({ ...content, ...(signatures && { signatures }) });
    return { json, etag, changedAt: this.changeOf(agent) };
  }

  private cardOptions(baseUrl: string): CardOptions {
    const { pushNotifications, security, address } = this.options;
    return { pushNotifications, security, grpcUrl: address.publicGrpcTarget?.(baseUrl) };
  }

  /**
   * Returns the time of an agent's last change. It is never before the start of the process, since parts of a card
   * depend on the configuration of the process.
   */
  private changeOf({ changedAt }: ServedAgent): Date {
    return changedAt !== undefined && changedAt > this.since ? changedAt : this.since;
  }

  private async writeSignedCard(
    card: AgentCard,
    baseUrl: string,
    changedAt: Date | undefined,
  ): Promise<WrittenDocument> {
    const json = JSON.stringify(card);
    const digest = digestOf(json);
    const signatures = await this.options.signer?.signCard(card, baseUrl, digest);
    if (!signatures) return { json, etag: `"${digest}"`, changedAt };
    const signed = `${json.slice(0, -1)},"signatures":${JSON.stringify(signatures)}}`;
    return { json: signed, etag: `W/"${digest}"`, changedAt };
  }

  private async withSignature(card: AgentCard, baseUrl: string): Promise<AgentCard> {
    const signatures = await this.options.signer?.signCard(card, baseUrl, digestOf(JSON.stringify(card)));
    return signatures ? { ...card, signatures } : card;
  }
}

/** Returns a digest of a document's text, for its entity tag. */
export function digestOf(json: string): string {
  return createHash('sha256').update(json).digest('base64url').slice(0, 27);
}

/** Caching rules of a document. */
export interface DocumentCaching {
  /** True if shared caches may keep the document; false for a document that depends on the caller. */
  shared: boolean;
  maxAgeMs: number;
  varyBy: readonly string[];
}

/** Request header that every card depends on: readers of 1.0 get no members of 0.3. */
const VERSION = 'A2A-Version';

/** Sends a card, or 304 to a caller that already has the card (section 8.6.1). */
export function sendCard(
  request: FastifyRequest,
  reply: FastifyReply,
  card: WrittenDocument,
  caching: DocumentCaching,
): void {
  sendDocument(request, reply, card, { ...caching, varyBy: [VERSION, ...caching.varyBy] });
}

/** Sends a document, or 304 to a caller that already has it. */
export function sendDocument(
  request: FastifyRequest,
  reply: FastifyReply,
  { json, etag, changedAt, type }: WrittenDocument,
  { shared, maxAgeMs, varyBy }: DocumentCaching,
): void {
  const lifetime = `max-age=${Math.floor(maxAgeMs / 1000)}, must-revalidate`;
  reply.header('etag', etag).header('cache-control', `${shared ? 'public' : 'private'}, ${lifetime}`);
  addVary(reply, varyBy);
  const modified = lastModified(changedAt);
  if (modified) reply.header('last-modified', modified.toUTCString());
  if (isKnown(request, etag, modified)) reply.code(304).send();
  else if (type === undefined) reply.header('content-type', 'application/json').send(json);
  // Fastify would add a charset to a text, which these media types do not have.
  else reply.header('content-type', type).send(Buffer.from(json));
}

/**
 * Returns the `Last-Modified` time of content: the first full second after its change, since HTTP dates have no
 * fractions. Returns `undefined` until that second has come: a later change in the same second would get the same time,
 * and a time in the future must not be sent (RFC 9110, section 8.8.2.1).
 */
function lastModified(changedAt: Date | undefined): Date | undefined {
  if (changedAt === undefined) return undefined;
  const modified = new Date((Math.floor(changedAt.getTime() / 1000) + 1) * 1000);
  return modified.getTime() <= Date.now() ? modified : undefined;
}

/** Adds names to the `Vary` header, keeping the names that others, such as CORS, have set. */
function addVary(reply: FastifyReply, names: readonly string[]): void {
  if (names.length === 0) return;
  const said = reply.getHeader('vary');
  reply.header('vary', [...(said === undefined ? [] : [said].flat()), ...names].join(', '));
}

/**
 * True if the caller already has this document, by its conditional headers. `If-Modified-Since` counts only without
 * `If-None-Match` (RFC 9110, section 13.2.2).
 */
function isKnown({ headers }: FastifyRequest, etag: string, modified: Date | undefined): boolean {
  const tags = headers['if-none-match'];
  if (tags !== undefined)
    return tags.split(',').some((it) => it.trim() === '*' || opaqueTag(it.trim()) === opaqueTag(etag));
  const since = headers['if-modified-since'];
  return since !== undefined && modified !== undefined && modified.getTime() <= Date.parse(since);
}

/** Returns the opaque part of an entity tag, for weak comparison (RFC 9110, section 13.1.2). */
function opaqueTag(tag: string): string {
  return tag.replace(/^W\//, '');
}
