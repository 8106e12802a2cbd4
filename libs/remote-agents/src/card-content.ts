import { createHash } from 'node:crypto';
import { readAgentCard, type ReceivedCard } from '#libs/a2a-client';
import { canonicalAgentCard, canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import { decodeProtectedHeader } from 'jose';

/** What is compared of a card. */
export interface CardContent {
  /** Of `content`; `''` where there is no card. */
  hash: string;
  /**
   * The canonical form, and `signatures` with who signed: a signature made anew by the same key is no change. Empty where
   * there is no card.
   */
  content: JsonObject;
}

/** An agent that has no card, or none any more. */
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

/** The content of a card that was kept as it came. */
export function keptContent(json: JsonObject | null): CardContent {
  if (json === null) return NO_CARD;
  const text = JSON.stringify(json);
  const card = readAgentCard(text);
  return card ? cardContent({ text, card }) : NO_CARD;
}

/** What a card says of credentials, to the letter: callers go by the words of 0.3 too, which the canonical form drops. */
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
