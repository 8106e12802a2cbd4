import { type ReceivedCard } from '#libs/a2a-client';
import { SIGNATURE_TYPES } from '#libs/http';
import { canonicalAgentCard, canonicalJson, compactCardText, isJsonObject, type JsonObject } from '#libs/protocol';
import { decodeProtectedHeader, errors, flattenedVerify } from 'jose';
import type { CardKeys, KeySource, KeyTrust } from './card-keys.js';

/**
 * State of a card's signatures.
 *
 * - `valid`: at least one signature is valid (section 8.4.3).
 * - `untrusted`: no key may be fetched, or none could be.
 * - `invalid`: a signature is wrong for a known key, or malformed.
 */
export type SignatureState = 'valid' | 'invalid' | 'untrusted' | 'unsigned';

/** Result of verifying one signature. */
export interface SignatureReport {
  state: Exclude<SignatureState, 'unsigned'>;
  alg?: string;
  kid?: string;
  jku?: string;
  /** Source of trust in the key, if the signature is valid. */
  trust?: KeyTrust;
  /** Reason, if the signature is not valid. */
  reason?: string;
}

export interface CardSignatureReport {
  state: SignatureState;
  signatures: SignatureReport[];
  /** Present if no signature is valid or wrong and the key of one could not be fetched: a retry may succeed. */
  mayPass?: true;
}

/** Accepted algorithms: never `none`, never a shared secret. */
export const CARD_ALGORITHMS = ['ES256', 'ES384', 'EdDSA', 'Ed25519', 'RS256', 'PS256'];
/** Maximum number of signatures verified for each card. */
const MAX_SIGNATURES = 8;

/** Verifies the signatures of agents' cards. */
export class CardSignatures {
  constructor(private readonly keys: Pick<CardKeys, 'findSources'>) {}

  /** Verifies the signatures of a card. Never rejects. */
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

/** Reads a signature; `undefined` if it is malformed. Ignores its unprotected header. */
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
 * Returns the texts that a signature may cover: the canonical form, or that of the official SDKs, which omits empty
 * members. A card of 0.3 is signed verbatim: the forms of 1.0 do not cover its URL.
 */
function signedTexts({ card }: ReceivedCard, json: JsonObject): readonly string[] {
  const { signatures: _, ...content } = json;
  const interfaces = json['supportedInterfaces'] ?? json['supported_interfaces'];
  const current = Array.isArray(interfaces) && interfaces.length > 0;
  if (!current || asksInWordsOf03(json)) return [canonicalJson(content)];
  return [...new Set([canonicalJson(canonicalAgentCard(card)), compactCardText(card)])];
}

/** True if a card states its security in the form of 0.3, which callers also read and which is no field of 1.0. */
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

/** True if the set of keys could not be fetched, or is invalid. */
function isKeyFailure(error: unknown): boolean {
  if (!(error instanceof errors.JOSEError)) return !(error instanceof TypeError);
  return (
    error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid || error.code === 'ERR_JOSE_GENERIC'
  );
}
