import { createRemoteJWKSet, customFetch, errors, type JWTPayload, jwtVerify, type JWTVerifyGetKey } from 'jose';
import { LRUCache } from 'lru-cache';
import type { OutboundFetch } from '#libs/http-client';
import type { JwtConfig } from '#libs/service';
import { digestOf } from './api-keys.js';
import { type Caller, isPermission, type Permission } from './caller.js';

/**
 * Milliseconds that a verified token is trusted before it is verified again: its signing key may have been
 * withdrawn.
 */
const BELIEVED_MS = 60_000;
const MAX_CLAIM = 255;
/**
 * Latest expiry of a token, in milliseconds since 1970, that JavaScript and the database can represent. A token that
 * expires later is invalid.
 */
const LAST_MS = Date.UTC(9999, 11, 31);
/** Permissions of a token without a scope claim. */
const WITHOUT_SCOPES: readonly Permission[] = ['agents', 'workflows'];

/** Verifies the bearer tokens (JWT) of an identity provider (RFC 7519, RFC 9068) and reads their callers. */
export class JwtVerifier {
  private readonly keys: JWTVerifyGetKey;
  private readonly believed = new LRUCache<string, { caller: Caller; until: number }>({ max: 10_000 });

  /** @param fetch loads the provider's keys; the keys are cached, and reloaded if a token names an unknown key */
  constructor(
    private readonly config: JwtConfig,
    fetch: OutboundFetch,
  ) {
    const options = { [customFetch]: fetch as typeof globalThis.fetch };
    this.keys = createRemoteJWKSet(new URL(config.jwksUrl), options);
  }

  /**
   * Verifies a token; returns `undefined` for an invalid token. A recently verified token is answered from the cache.
   * @throws any error that prevents reading the provider's keys
   */
  findCaller(token: string): Caller | undefined | Promise<Caller | undefined> {
    const digest = digestOf(token);
    const known = this.believed.get(digest);
    if (known && Date.now() < known.until) return known.caller;
    this.believed.delete(digest);
    return this.verifyToken(token, digest);
  }

  private async verifyToken(token: string, digest: string): Promise<Caller | undefined> {
    const payload = await this.verifiedPayload(token);
    const known = payload && callerOfClaims(payload, this.config);
    if (!known) return undefined;
    const endsAt = (payload.exp ?? 0) * 1000 + this.config.clockToleranceMs;
    if (endsAt > LAST_MS) return undefined;
    const caller = { ...known, proof: { endsAt } };
    this.believed.set(digest, { caller, until: Math.min(endsAt, Date.now() + BELIEVED_MS) });
    return caller;
  }

  private async verifiedPayload(token: string): Promise<JWTPayload | undefined> {
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
 * True if the `typ` of a token allows its use in calls. Providers sign other tokens with the same key for the same
 * audience, such as logout tokens and proofs of possession, but such tokens declare a type of their own (RFC 8725,
 * section 3.11). Many access tokens declare no type, or just JWT.
 */
function isForCalls(typ: string | undefined): boolean {
  return typ === undefined || /^(application\/)?(at\+)?jwt$/i.test(typ);
}

/** True for an error that means that the provider's keys cannot be read, so that the token may be valid. */
function isFaultOfProvider(error: errors.JOSEError): boolean {
  return (
    error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid || error.code === 'ERR_JOSE_GENERIC'
  );
}

/** Returns the caller that the claims name; `undefined` if a required claim is missing. */
function callerOfClaims(claims: JWTPayload, config: JwtConfig): Caller | undefined {
  const named = namesInClaims(claims, config);
  return named && { ...named, permissions: permissionsOf(claims[config.scopeClaim]) };
}

/** Returns the tenant and owner that the claims name; `undefined` if a claim is missing or invalid as a name. */
export function namesInClaims(
  claims: JWTPayload,
  { ownerClaim, tenantClaim }: Pick<JwtConfig, 'ownerClaim' | 'tenantClaim'>,
): Pick<Caller, 'tenant' | 'owner'> | undefined {
  const owner = claims[ownerClaim];
  const tenant = tenantClaim === undefined ? '' : claims[tenantClaim];
  if (!isName(owner) || (tenantClaim !== undefined && !isName(tenant))) return undefined;
  return { tenant: tenant as string, owner };
}

/**
 * True if a claim can be a name: a text of 1 to 255 characters that the database stores without loss. Lone surrogates
 * are refused, since the database would make two different names equal.
 */
function isName(claim: unknown): claim is string {
  return (
    typeof claim === 'string' &&
    claim !== '' &&
    claim.length <= MAX_CLAIM &&
    !claim.includes('\0') &&
    claim.isWellFormed()
  );
}

/** Reads permissions: words separated by spaces (RFC 8693, section 4.2), or a list of words. */
function permissionsOf(claim: unknown): Set<Permission> {
  if (claim === undefined) return new Set(WITHOUT_SCOPES);
  const words = typeof claim === 'string' ? claim.split(' ') : claim;
  return new Set(Array.isArray(words) ? words.filter(isPermission) : []);
}
