import type { RequestAuth } from '#libs/a2a-client';
import type { CredentialSettings } from './credential.js';
import { CredentialMismatch, type Placement } from './placement.js';

/** `cookie-octet` of RFC 6265, section 4.1.1. */
const COOKIE_VALUE = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*$/;
/** Minimum length of redacted secrets: a shorter text may be part of any word. */
const SHORTEST_HIDDEN = 4;

/**
 * Returns the authentication of a request.
 * @param secret the key, the token or the password
 * @throws CredentialMismatch if the secret does not fit its place
 */
export function requestAuth(
  placement: Placement,
  settings: CredentialSettings,
  secret: string,
  origin: string,
): RequestAuth {
  if (placement.in === 'authorization') {
    const value = settings.kind === 'basic' ? basicCredentials(settings.username, secret) : secret;
    return {
      origin,
      headers: { authorization: `${placement.scheme} ${value}` },
      query: {},
      secrets: secretsToHide(secret, value),
    };
  }
  const { parameter } = placement;
  const secrets = secretsToHide(secret, encodeURIComponent(secret));
  if (placement.in === 'query') return { origin, headers: {}, query: { [parameter]: secret }, secrets };
  if (placement.in === 'header') return { origin, headers: { [parameter.toLowerCase()]: secret }, query: {}, secrets };
  if (!COOKIE_VALUE.test(secret))
    throw new CredentialMismatch('the agent asks for a cookie, which cannot carry this key');
  return { origin, headers: { cookie: `${parameter}=${secret}` }, query: {}, secrets };
}

/** Encodes credentials of Basic authentication (RFC 7617, in UTF-8). */
export function basicCredentials(username: string, password: string): string {
  return Buffer.from(`${username}:${password}`).toString('base64');
}

/** Returns the secrets to redact, longest first, so that no part of one remains. */
function secretsToHide(...secrets: string[]): string[] {
  const long = [...new Set(secrets)].filter((it) => it.length >= SHORTEST_HIDDEN);
  return long.toSorted((a, b) => b.length - a.length);
}
