import { createHash } from 'node:crypto';
import { readAgentCard, type ReceivedCard } from '#libs/a2a-client';
import { canonicalAgentCard, canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import { decodeProtectedHeader } from 'jose';

/** Content of a card that is compared. */
export interface CardContent {
  /** Hash of `content`; `''` without a card. */
  hash: string;
  /**
   * Canonical form, with the signers as `signatures`: a new signature by the same key is no change. Empty without a
   * card.
   */
  content: JsonObject;
}

/** Content of an agent without a card. */
export const NO_CARD: CardContent = { hash: '', content: {} };

export function cardContent({ text, card }: Pick<ReceivedCard, 'text' | 'card'>): CardContent {
  const json = JSON.parse(text) as JsonObject;
  const signers = signersOf(json['signatures']);
  const content = {
    ...canonicalAgentCard(card),
    ...credentialWords(json),
    ...(signers.length > 0 && { signatures: signers }),
  };
  return { hash: createHash('sha256').update(canonicalJson(content)).digest('base64url'), content };
}

/** Returns the content of a stored card. */
export function keptContent(json: JsonObject | null): CardContent {
  if (json === null) return NO_CARD;
  const text = JSON.stringify(json);
  const card = readAgentCard(text);
  return card ? cardContent({ text, card }) : NO_CARD;
}

/** Returns the members about credentials verbatim: callers also read those of 0.3, which the canonical form drops. */
function credentialWords({ security, securitySchemes }: JsonObject): JsonObject {
  return { ...(security !== undefined && { security }), ...(securitySchemes !== undefined && { securitySchemes }) };
}

function signersOf(signatures: JsonValue | undefined): JsonObject[] {
  if (!Array.isArray(signatures)) return [];
  return signatures.map(signerOf).toSorted((a, b) => (canonicalJson(a) < canonicalJson(b) ? -1 : 1));
}

function signerOf(signature: JsonValue): JsonObject {
  const head = isJsonObject(signature) ? signature['protected'] : undefined;
  try {
    const { alg, kid, jku } = decodeProtectedHeader({ protected: head as string });
    return { alg: String(alg ?? ''), kid: String(kid ?? ''), jku: String(jku ?? '') };
  } catch {
    return { alg: '', kid: '', jku: '' };
  }
}
