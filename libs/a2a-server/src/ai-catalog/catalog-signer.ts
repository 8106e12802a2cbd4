import { CompactSign, type JWK } from 'jose';
import { LRUCache } from 'lru-cache';
import { SIGNATURE_TYPES, type SigningKeys } from '#libs/http-server';
import { canonicalJson, type JsonValue } from '#libs/protocol';
import type { AiCatalog, CatalogSignature } from './ai-catalog.js';

/** Name of the verification procedure of the signatures (AI Catalog 0.9, did:web Signer Profile). */
const PROFILE = 'did-web-v1';

/** Maximum number of catalogs whose signatures are cached. */
const MOST_SIGNATURES = 1_000;

/** Domain name in lower case, with at least one dot and without a port, as a root `did:web` requires. */
const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Returns the domain of a base URL that a root `did:web` can name; `undefined` for any other base URL. */
export function domainOf(baseUrl: string): string | undefined {
  const { protocol, hostname, port, pathname } = new URL(baseUrl);
  const isRoot = protocol === 'https:' && port === '' && pathname === '/';
  return isRoot && hostname.length <= 253 && DOMAIN.test(hostname) ? hostname : undefined;
}

/** Returns the DID of a service with a domain of its own. */
export function didOf(domain: string): string {
  return `did:web:${domain}`;
}

/** DID document, which lists the keys that verify signatures of a catalog (DID Core 1.0). */
export interface DidDocument {
  '@context': string[];
  id: string;
  verificationMethod: { id: string; type: string; controller: string; publicKeyJwk: JWK }[];
  assertionMethod: string[];
}

/** Signs catalogs with the signing key of the service, and publishes the keys as a DID document. */
export class CatalogSigner {
  private readonly kept = new LRUCache<string, Promise<CatalogSignature>>({ max: MOST_SIGNATURES });

  constructor(private readonly keys: Pick<SigningKeys, 'getSigningKey' | 'publicSet'>) {}

  /**
   * Returns the signature of a catalog. Catalogs with equal content get the same signature while it is cached.
   * @param digest digest of the content
   */
  signCatalog(catalog: AiCatalog, did: string, digest: string): Promise<CatalogSignature> {
    const known = this.kept.get(digest);
    if (known) return known;
    const made = this.createSignature(catalog, did);
    this.kept.set(digest, made);
    made.catch(() => this.kept.delete(digest));
    return made;
  }

  async didDocument(did: string): Promise<DidDocument> {
    const { keys } = await this.keys.publicSet();
    const methods = keys.map((publicKeyJwk) => ({
      id: `${did}#${publicKeyJwk.kid}`,
      type: 'JsonWebKey2020',
      controller: did,
      publicKeyJwk,
    }));
    return {
      '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/suites/jws-2020/v1'],
      id: did,
      verificationMethod: methods,
      assertionMethod: methods.map(({ id }) => id),
    };
  }

  private async createSignature(catalog: AiCatalog, did: string): Promise<CatalogSignature> {
    const { kid, key } = await this.keys.getSigningKey();
    const signature = { signer: did, profile: PROFILE, issuedAt: new Date().toISOString() };
    const payload = canonicalJson({ ...catalog, signature } as unknown as JsonValue);
    const header = { alg: 'ES256', typ: SIGNATURE_TYPES.catalog, kid: `${did}#${kid}` };
    const [head, , sealed] = (await new CompactSign(Buffer.from(payload)).setProtectedHeader(header).sign(key)).split(
      '.',
    );
    return { ...signature, jws: `${head}..${sealed}` };
  }
}
