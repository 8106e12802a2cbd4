import {
  createRemoteJWKSet,
  customFetch,
  decodeProtectedHeader,
  errors,
  flattenedVerify,
  type FlattenedVerifyGetKey,
} from 'jose';
import { LRUCache } from 'lru-cache';
import type { ReceivedCard } from '#libs/a2a-client';
import type { OutboundFetch, OutboundHttp } from '#libs/http-client';
import { hasMoreMembers, SIGNATURE_TYPES } from '#libs/http-server';
import { canonicalAgentCard, canonicalJson, compactCardText, isJsonObject, type JsonObject } from '#libs/protocol';

/**
 * Reason why a key is trusted: the card's own server publishes it (`origin`), or the operator of this service named its
 * set (`operator`).
 */
type KeyTrust = 'origin' | 'operator';

/** JWK Set in which the key of a signature is searched. */
export interface KeySource {
  url: string;
  trust: KeyTrust;
  key: FlattenedVerifyGetKey;
}

/** Time limit in milliseconds for fetching a JWK Set. */
const TIMEOUT_MS = 5_000;
const MAX_BYTES = 256 * 1024;
const MAX_MEMBERS = 2_000;
/** Maximum number of bytes of memory for all JWK Sets that cards name. */
const MOST_KEPT_BYTES = 16 * 1024 * 1024;
/** Estimated bytes of memory for each byte of the text of a JWK Set. */
const HEAP_PER_BYTE = 4;
/** Estimated bytes of memory of a source whose JWK Set is not fetched yet. */
const SOURCE_BYTES = 4 * 1024;

/**
 * Finds the keys that may sign agent cards.
 *
 * - The JWK Sets that the operator named are trusted for any card.
 * - The JWK Set that a card names (`jku`) is used only at the origin of the card. No other URL of a card, and no
 *   redirect, is followed.
 * - A JWK Set is cached for ten minutes, and fetched again if a signature names an unknown key.
 * - The memory for the JWK Sets that cards name is limited.
 */
export class CardKeys {
  private readonly trusted: readonly KeySource[];
  private readonly named = new LRUCache<string, { source: KeySource }>({ max: 1_000, maxSize: MOST_KEPT_BYTES });
  private readonly fetch: OutboundFetch;

  constructor(http: Pick<OutboundHttp, 'fetch' | 'trustingFetch'>, trustedUrls: readonly string[]) {
    this.fetch = http.fetch;
    // JWK Sets that the operator named may be in a private network.
    this.trusted = trustedUrls.map((url) => ({
      url,
      trust: 'operator',
      key: keySet(url, http.trustingFetch(url), () => undefined),
    }));
  }

  /**
   * Returns the JWK Sets that may have the key of a signature.
   * @param jku URL of the JWK Set that the protected header of the signature names
   * @param cardUrl URL that the card was read from
   */
  findSources(jku: string | undefined, cardUrl: string): readonly KeySource[] {
    if (jku === undefined || !isAtOrigin(jku, cardUrl)) return this.trusted;
    if (this.trusted.some(({ url }) => url === jku)) return this.trusted;
    return [...this.trusted, this.ofCard(jku)];
  }

  private ofCard(url: string): KeySource {
    const kept = this.named.get(url);
    if (kept) return kept.source;
    const source: KeySource = { url, trust: 'origin', key: keySet(url, this.fetch, (bytes) => setWeight(bytes)) };
    let largest = 0;
    const setWeight = (bytes: number): void => {
      // After an invalid answer, the previous set stays in memory.
      largest = Math.max(largest, bytes);
      if (this.named.peek(url)?.source !== source) return;
      this.named.set(url, { source }, { size: SOURCE_BYTES + largest * HEAP_PER_BYTE });
    };
    this.named.set(url, { source }, { size: SOURCE_BYTES });
    return source;
  }
}

function isAtOrigin(jku: string, cardUrl: string): boolean {
  if (!URL.canParse(jku)) return false;
  const { origin, protocol } = new URL(jku);
  return /^https?:$/.test(protocol) && origin === new URL(cardUrl).origin;
}

/** Creates the key resolver of a JWK Set. @param onRead called with the size in bytes of a fetched set */
function keySet(url: string, fetch: OutboundFetch, onRead: (bytes: number) => void): FlattenedVerifyGetKey {
  return createRemoteJWKSet(new URL(url), {
    [customFetch]: boundedFetch(fetch, onRead) as typeof globalThis.fetch,
    timeoutDuration: TIMEOUT_MS,
  });
}

/**
 * Wraps a `fetch` that reads JWK Sets. The wrapper throws if a set has more than MAX_BYTES bytes, and does not read the
 * rest. It also throws if the JSON of the set has more than MAX_MEMBERS members.
 */
function boundedFetch(fetch: OutboundFetch, onRead: (bytes: number) => void): OutboundFetch {
  return async (input, init) => {
    const { status, body } = await fetch(input, init);
    const pieces: Uint8Array[] = [];
    let bytes = 0;
    for await (const piece of (body ?? []) as AsyncIterable<Uint8Array>) {
      bytes += piece.byteLength;
      if (bytes > MAX_BYTES) throw new Error(`A set of keys is longer than ${MAX_BYTES} bytes`);
      pieces.push(piece);
    }
    const text = Buffer.concat(pieces).toString();
    if (hasMoreMembers(text, MAX_MEMBERS)) throw new Error(`A set of keys has more than ${MAX_MEMBERS} members`);
    onRead(bytes);
    return new Response(status === 200 ? text : null, { status });
  };
}

/**
 * State of the signatures of a card.
 *
 * - `valid`: at least one signature is valid (section 8.4.3).
 * - `invalid`: no signature is valid, and one is malformed or does not match the card.
 * - `untrusted`: the keys of all signatures are untrusted or could not be fetched.
 * - `unsigned`: the card has no signature.
 */
type SignatureState = 'valid' | 'invalid' | 'untrusted' | 'unsigned';

/** Result of verifying one signature. */
export interface SignatureReport {
  state: Exclude<SignatureState, 'unsigned'>;
  alg?: string;
  kid?: string;
  jku?: string;
  /** Reason why the key is trusted, if the signature is valid. */
  trust?: KeyTrust;
  /** Reason why the signature is not valid; absent if it is valid. */
  reason?: string;
}

/** Result of verifying all signatures of a card. */
export interface CardSignatureReport {
  state: SignatureState;
  signatures: SignatureReport[];
  /** True if the state is `untrusted` and the key of a signature could not be fetched, so that a retry may succeed. */
  mayPass?: true;
}

/** Accepted signature algorithms: never `none`, and none with a shared secret. */
const CARD_ALGORITHMS = ['ES256', 'ES384', 'EdDSA', 'Ed25519', 'RS256', 'PS256'];
/** Maximum number of signatures of a card that are verified. */
const MAX_SIGNATURES = 8;

/** Verifies the signatures of agent cards. */
export class CardSignatures {
  constructor(private readonly keys: Pick<CardKeys, 'findSources'>) {}

  /** Verifies at most eight signatures of a card. A failure is reported in the result and not thrown. */
  async verifyCard(received: ReceivedCard): Promise<CardSignatureReport> {
    const json = JSON.parse(received.text) as JsonObject;
    const given = Array.isArray(json['signatures']) ? json['signatures'].slice(0, MAX_SIGNATURES) : [];
    if (given.length === 0) return { state: 'unsigned', signatures: [] };
    const texts = signedTexts(received, json);
    const signatures = await Promise.all(given.map((it) => this.verifySignature(it, texts, received.url)));
    const states = signatures.map(({ state }) => state);
    const state = (['valid', 'invalid'] as const).find((it) => states.includes(it)) ?? 'untrusted';
    const mayPass = state === 'untrusted' && signatures.some(({ reason }) => reason === FAILURES.unreachable.reason);
    return { state, signatures, ...(mayPass && { mayPass }) };
  }

  private async verifySignature(
    signature: unknown,
    texts: readonly string[],
    cardUrl: string,
  ): Promise<SignatureReport> {
    const jws = readSignature(signature);
    if (!jws) return { state: 'invalid', reason: 'is not a JWS with a protected header' };
    const { header, parts } = jws;
    const { alg, kid, jku } = header;
    if (alg === undefined || !CARD_ALGORITHMS.includes(alg)) {
      return {
        ...header,
        state: 'invalid',
        reason: `has an algorithm that is not one of ${CARD_ALGORITHMS.join(', ')}`,
      };
    }
    if (kid === undefined) return { ...header, state: 'invalid', reason: 'names no key' };
    let outcome: VerificationOutcome = 'no key';
    for (const source of this.keys.findSources(jku, cardUrl)) {
      const tried = await verifyOver(texts, parts, source);
      if (tried === 'valid') return { ...header, state: 'valid', trust: source.trust };
      if (tried !== 'no key' && outcome !== 'wrong') outcome = tried;
    }
    return { ...header, ...FAILURES[outcome] };
  }
}

type VerificationOutcome = 'no key' | 'unreachable' | 'wrong';

const FAILURES: Record<VerificationOutcome, Pick<SignatureReport, 'state' | 'reason'>> = {
  'no key': {
    state: 'untrusted',
    reason: 'names a key that is neither trusted nor published at the origin of the card',
  },
  unreachable: { state: 'untrusted', reason: 'names a key that could not be fetched' },
  wrong: { state: 'invalid', reason: 'does not fit the card' },
};

interface Jws {
  header: Pick<SignatureReport, 'alg' | 'kid' | 'jku'>;
  parts: { protected: string; signature: string };
}

/** Reads a signature (JWS); `undefined` if it is malformed. The unprotected header is ignored. */
function readSignature(value: unknown): Jws | undefined {
  if (!isJsonObject(value)) return undefined;
  const { protected: head, signature } = value;
  if (typeof head !== 'string' || typeof signature !== 'string') return undefined;
  try {
    const { alg, kid, jku, crit, typ } = decodeProtectedHeader({ protected: head });
    if (crit !== undefined || typ === SIGNATURE_TYPES.notification) return undefined;
    return {
      header: { ...shortMember('alg', alg), ...shortMember('kid', kid), ...shortMember('jku', jku) },
      parts: { protected: head, signature },
    };
  } catch {
    return undefined;
  }
}

function shortMember(name: string, value: unknown): Record<string, string> {
  return typeof value === 'string' && value.length <= 2_000 ? { [name]: value } : {};
}

/**
 * Returns the texts that a signature may cover: the canonical form of the card, or the form of the official SDKs, which
 * omits empty members. A card of A2A 0.3 is signed verbatim, as the forms of 1.0 do not cover its URL.
 */
function signedTexts({ card }: ReceivedCard, json: JsonObject): readonly string[] {
  const { signatures: _, ...content } = json;
  const interfaces = json['supportedInterfaces'] ?? json['supported_interfaces'];
  const current = Array.isArray(interfaces) && interfaces.length > 0;
  if (!current || asksInWordsOf03(json)) return [canonicalJson(content)];
  return [...new Set([canonicalJson(canonicalAgentCard(card)), compactCardText(card)])];
}

/**
 * True if a card declares its security in the form of A2A 0.3. A2A 1.0 has no such members, but callers of agents read
 * them, so a signature must cover them.
 */
function asksInWordsOf03({ security, securitySchemes }: JsonObject): boolean {
  const schemes = isJsonObject(securitySchemes) ? Object.values(securitySchemes) : [];
  return security !== undefined || schemes.some((it) => isJsonObject(it) && 'type' in it);
}

async function verifyOver(
  texts: readonly string[],
  parts: Jws['parts'],
  { key }: KeySource,
): Promise<VerificationOutcome | 'valid'> {
  for (const content of texts) {
    const payload = Buffer.from(content).toString('base64url');
    try {
      await flattenedVerify({ ...parts, payload }, key, { algorithms: CARD_ALGORITHMS });
      return 'valid';
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey) return 'no key';
      if (!(error instanceof errors.JWSSignatureVerificationFailed))
        return isKeyFailure(error) ? 'unreachable' : 'wrong';
    }
  }
  return 'wrong';
}

/** True if a signature could not be verified because its JWK Set could not be fetched, or is invalid. */
export function isKeyFailure(error: unknown): boolean {
  if (!(error instanceof errors.JOSEError)) return !(error instanceof TypeError);
  return (
    error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid || error.code === 'ERR_JOSE_GENERIC'
  );
}
