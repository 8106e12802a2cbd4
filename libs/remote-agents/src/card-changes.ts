import { decodeProtectedHeader } from 'jose';
import { readAgentCard, type ReceivedCard } from '#libs/a2a-client';
import {
  canonicalAgentCard,
  canonicalJson,
  isJsonObject,
  type JsonDifference,
  jsonDigest,
  jsonDifferences,
  type JsonObject,
  type JsonValue,
} from '#libs/protocol';

/** Content of an agent card that is compared with the pinned card. */
export interface CardContent {
  /** Hash of `content`; `''` if the agent has no card. */
  hash: string;
  /**
   * Canonical form of the card, with the signers in place of `signatures`, so that a new signature by the same key is
   * no change. Empty if the agent has no card.
   */
  content: JsonObject;
}

/** Content that stands for an agent without a card. */
export const NO_CARD: CardContent = { hash: '', content: {} };

/** Returns the content of a received card that is compared with the pinned card. */
export function cardContent({ text, card }: Pick<ReceivedCard, 'text' | 'card'>): CardContent {
  const json = JSON.parse(text) as JsonObject;
  const signers = signersOf(json['signatures']);
  const content = {
    ...canonicalAgentCard(card),
    ...credentialWords(json),
    ...(signers.length > 0 && { signatures: signers }),
  };
  return { hash: jsonDigest(content), content };
}

/** Returns the content of a pinned card as it is stored; NO_CARD if there is no card, or the card cannot be parsed. */
export function keptContent(json: JsonObject | null): CardContent {
  if (json === null) return NO_CARD;
  const text = JSON.stringify(json);
  const card = readAgentCard(text);
  return card ? cardContent({ text, card }) : NO_CARD;
}

/**
 * Returns the members of a card about credentials in the form of A2A 0.3, unchanged. Callers of agents read this form
 * too, but the canonical form of A2A 1.0 omits it, and a change of it must not be missed.
 */
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

/** Change of one member of a card. */
export interface CardChange extends JsonDifference {
  /** True if callers rely on the changed member (see SIGNIFICANT). */
  significant: boolean;
}

/** Maximum number of reported changes. Significant changes take precedence. */
const MAX_CHANGES = 100;

/**
 * Members of a card that callers rely on: identity, addresses, skills, credentials and signatures. All other members
 * (version, description, modes, capabilities) change in normal operation.
 */
const SIGNIFICANT = new Set([
  'name',
  'supportedInterfaces',
  'provider',
  'skills',
  'securitySchemes',
  'securityRequirements',
  'security',
  'signatures',
]);

/** Returns the changes from one card to another, at most 100, sorted by path. */
export function cardChanges(from: CardContent, to: CardContent): CardChange[] {
  if (from.hash === '' || to.hash === '') return wholeChange(from, to);
  const changes = [...jsonDifferences(from.content, to.content)].map(weighChange);
  const reported = changes.toSorted((a, b) => Number(b.significant) - Number(a.significant)).slice(0, MAX_CHANGES);
  return reported.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

export function isSignificant(changes: readonly CardChange[]): boolean {
  return changes.some((it) => it.significant);
}

function wholeChange(from: CardContent, to: CardContent): CardChange[] {
  if (from.hash === to.hash) return [];
  return [{ path: '', kind: to.hash === '' ? 'removed' : 'added', significant: true }];
}

function weighChange({ path, kind, ...values }: JsonDifference): CardChange {
  return { path, kind, significant: SIGNIFICANT.has(path.split('/')[1] ?? ''), ...values };
}
