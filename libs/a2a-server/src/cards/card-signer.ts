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

/** Knows the base URLs of this service, however a request was addressed. */
export interface AddressAuthority {
  isOwnAddress(baseUrl: string): boolean;
}

/**
 * Signs agent cards (section 8.4): a JWS over the canonical form, with the key of `/.well-known/jwks.json`, which the
 * protected header names as `jku`. A card with an unconfirmed base URL is not signed: that URL comes from the Host
 * header, so a caller could choose it.
 */
export class CardSigner {
  private readonly kept = new LRUCache<string, Promise<AgentCardSignature>>({ max: 1_000 });

  constructor(
    private readonly keys: Pick<SigningKeys, 'getSigningKey'>,
    private readonly address: AddressAuthority,
  ) {}

  /**
   * Returns the signature of a card; equal content gets the same one while it is cached (a thousand cards). Returns
   * `undefined` for an unconfirmed base URL.
   * @param digest digest of the card's content
   */
  async signCard(card: AgentCard, baseUrl: string, digest: string): Promise<AgentCardSignature | undefined> {
    if (!this.address.isOwnAddress(baseUrl)) return undefined;
    const known = this.kept.get(digest);
    if (known) return known;
    const made = this.createSignature(card, baseUrl);
    this.kept.set(digest, made);
    made.catch(() => this.kept.delete(digest));
    return made;
  }

  private async createSignature(card: AgentCard, baseUrl: string): Promise<AgentCardSignature> {
    const { kid, key } = await this.keys.getSigningKey();
    const content = canonicalJson(canonicalAgentCard(encodeAgentCard(card)));
    const jws = await new FlattenedSign(Buffer.from(content))
      .setProtectedHeader({ alg: 'ES256', typ: SIGNATURE_TYPES.card, kid, jku: `${baseUrl}${JWKS_PATH}` })
      .sign(key);
    return { protected: jws.protected as string, signature: jws.signature };
  }
}
