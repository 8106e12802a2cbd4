import { JWKS_PATH, SIGNATURE_TYPES, type SigningKeys } from '#libs/http';
import {
  type AgentCard,
  type AgentCardSignature,
  canonicalAgentCard,
  canonicalJson,
  encodeAgentCard,
} from '#libs/protocol';
import { FlattenedSign } from 'jose';
import { LRUCache } from 'lru-cache';

/** Whoever knows which base URLs are this service's, however a request was addressed. */
export interface AddressAuthority {
  isOwnAddress(baseUrl: string): boolean;
}

/**
 * Signs agent cards (section 8.4): a JWS over the canonical form, by the key of `/.well-known/jwks.json`, which the
 * protected header names as `jku`. A card with a base URL that is not known to be ours is not signed: it is built from the
 * Host header, and whoever asks for it could have it say anything.
 */
export class CardSigner {
  private readonly kept = new LRUCache<string, Promise<AgentCardSignature>>({ max: 1_000 });

  constructor(
    private readonly keys: Pick<SigningKeys, 'signing'>,
    private readonly address: AddressAuthority,
  ) {}

  /**
   * The signature of a card, the same one for the same content as long as it is kept: a thousand cards.
   * @param digest of the card's content
   */
  async signature(card: AgentCard, baseUrl: string, digest: string): Promise<AgentCardSignature | undefined> {
    if (!this.address.isOwnAddress(baseUrl)) return undefined;
    const known = this.kept.get(digest);
    if (known) return known;
    const made = this.sign(card, baseUrl);
    this.kept.set(digest, made);
    made.catch(() => this.kept.delete(digest));
    return made;
  }

  private async sign(card: AgentCard, baseUrl: string): Promise<AgentCardSignature> {
    const { kid, key } = await this.keys.signing();
    const content = canonicalJson(canonicalAgentCard(encodeAgentCard(card)));
    const jws = await new FlattenedSign(Buffer.from(content))
      .setProtectedHeader({ alg: 'ES256', typ: SIGNATURE_TYPES.card, kid, jku: `${baseUrl}${JWKS_PATH}` })
      .sign(key);
    return { protected: jws.protected as string, signature: jws.signature };
  }
}
