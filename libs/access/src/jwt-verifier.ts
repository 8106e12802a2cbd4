import { createRemoteJWKSet, customFetch, errors, type JWTPayload, jwtVerify, type JWTVerifyGetKey } from 'jose';
import type { OutboundFetch } from '#libs/outbound';
import type { JwtConfig } from '#libs/service';
import { LRUCache } from 'lru-cache';
import { type Caller, isPermission, type Permission } from './caller.js';
import { digestOf } from './key-digest.js';

/** A verified token is believed for so long, no longer than it says itself: then its key may have been withdrawn. */
const BELIEVED_MS = 60_000;
const MAX_CLAIM = 255;
/** No time after it can be written down, here or in the database: a token that ends later is not valid. */
const LAST_MS = Date.UTC(9999, 11, 31);
/** What a token may do that says nothing of scopes. */
const WITHOUT_SCOPES: readonly Permission[] = ['agents', 'workflows'];

/** Verifies the bearer tokens of an identity provider (RFC 7519, RFC 9068) and reads whose they are. */
export class JwtVerifier {
  private readonly keys: JWTVerifyGetKey;
  private readonly believed = new LRUCache<string, { caller: Caller; until: number }>({ max: 10_000 });

  /** @param fetch reaches the provider's keys; they are kept, and asked for again where a token names an unknown one */
  constructor(
    private readonly config: JwtConfig,
    fetch: OutboundFetch,
  ) {
    const options = { [customFetch]: fetch as typeof globalThis.fetch };
    this.keys = createRemoteJWKSet(new URL(config.jwksUrl), options);
  }

  /**
   * `undefined` for a token that is not valid; at once for one that was verified a short time ago.
   * @throws whatever keeps the provider's keys from being read
   */
  caller(token: string): Caller | undefined | Promise<Caller | undefined> {
    const digest = digestOf(token);
    const known = this.believed.get(digest);
    if (known && Date.now() < known.until) return known.caller;
    this.believed.delete(digest);
    return this.verify(token, digest);
  }

  private async verify(token: string, digest: string): Promise<Caller | undefined> {
    const payload = await this.payload(token);
    const known = payload && callerOfClaims(payload, this.config);
    if (!known) return undefined;
    const endsAt = (payload.exp ?? 0) * 1000 + this.config.clockToleranceMs;
    if (endsAt > LAST_MS) return undefined;
    const caller = { ...known, proof: { endsAt } };
    this.believed.set(digest, { caller, until: Math.min(endsAt, Date.now() + BELIEVED_MS) });
    return caller;
  }

  private async payload(token: string): Promise<JWTPayload | undefined> {
    const { issuer, audience, algorithms, clockToleranceMs } = this.config;
    try {
      const { payload, protectedHeader } = await jwtVerify(token, this.keys, {
        issuer,
        audience: [...audience],
        algorithms: [...algorithms],
        clockTolerance: clockToleranceMs / 1000,
        requiredClaims: ['exp'],
      });
      return isForCalls(protectedHeader.typ) ? payload : undefined;
    } catch (error) {
      if (error instanceof errors.JOSEError && !isFaultOfProvider(error)) return undefined;
      throw error;
    }
  }
}

/**
 * Providers sign other things with the same key, for the same audience: a logout, a proof of possession. Those say what
 * they are (RFC 8725, section 3.11); many access tokens say nothing, or just JWT.
 */
function isForCalls(typ: string | undefined): boolean {
  return typ === undefined || /^(application\/)?(at\+)?jwt$/i.test(typ);
}

/** Where the keys cannot be read nobody knows whether a token is valid. */
function isFaultOfProvider(error: errors.JOSEError): boolean {
  return (
    error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid || error.code === 'ERR_JOSE_GENERIC'
  );
}

/** `undefined` where a claim that says whose the token is is missing. */
function callerOfClaims(claims: JWTPayload, config: JwtConfig): Caller | undefined {
  const owner = claims[config.ownerClaim];
  const tenant = config.tenantClaim === undefined ? '' : claims[config.tenantClaim];
  if (!isName(owner) || (config.tenantClaim !== undefined && !isName(tenant))) return undefined;
  return { tenant: tenant as string, owner, permissions: permissionsOf(claims[config.scopeClaim]) };
}

/** What the database keeps letter by letter: it writes halves of characters all alike, so two names would be one. */
function isName(claim: unknown): claim is string {
  return (
    typeof claim === 'string' &&
    claim !== '' &&
    claim.length <= MAX_CLAIM &&
    !claim.includes('\0') &&
    claim.isWellFormed()
  );
}

/** Words separated by spaces (RFC 8693, section 4.2), or a list of them. */
function permissionsOf(claim: unknown): Set<Permission> {
  if (claim === undefined) return new Set(WITHOUT_SCOPES);
  const words = typeof claim === 'string' ? claim.split(' ') : claim;
  return new Set(Array.isArray(words) ? words.filter(isPermission) : []);
}
