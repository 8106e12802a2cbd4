import type { RequestAuth, RequiredSecurity, SecurityScheme } from '#libs/a2a-client';
import { textStart } from '#libs/protocol';
import type { CredentialSettings } from './credential.js';

/** `token` of RFC 9110, section 5.6.2: the form of the names of headers and cookies. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;

/** Headers that describe the call or its connection, so that a credential may not be sent in them. */
const TAKEN = new Set([
  'accept',
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'cookie',
  'expect',
  'host',
  'idempotency-key',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'via',
]);

export function isToken(name: string): boolean {
  return TOKEN.test(name);
}

/**
 * True if a credential may be sent in a header of this name. The name must be valid, and must not be that of a header
 * which describes the call: the names in TAKEN, `a2a-…` and `proxy-…`.
 */
export function mayCarrySecret(name: string): boolean {
  const key = name.toLowerCase();
  return isToken(name) && !TAKEN.has(key) && !key.startsWith('a2a-') && !key.startsWith('proxy-');
}

/** Place of the credential in a request. */
type Placement =
  | { in: 'header' | 'query' | 'cookie'; parameter: string }
  | { in: 'authorization'; scheme: 'Bearer' | 'Basic' };

/** Reports a credential that does not fit an agent. The message names the agent's requirements, and no secret. */
export class CredentialMismatch extends Error {
  override readonly name = 'CredentialMismatch';
}

/**
 * Chooses the place of a credential in a request by the security of an agent's card.
 *
 * - If the credential meets a requirement of the card that names a single scheme, that scheme decides.
 * - If the card has no requirements, a declared scheme that the credential meets decides.
 * - If the card has no schemes either, or there is no card, the settings of the credential decide.
 *
 * @throws CredentialMismatch if the card has requirements or schemes, and the credential meets none of them
 */
export function choosePlacement(settings: CredentialSettings, security: RequiredSecurity | undefined): Placement {
  const { schemes, requirements } = security ?? { schemes: new Map<string, SecurityScheme>(), requirements: [] };
  const asked = requirements.filter((names) => names.length > 0);
  if (asked.length === 0 && schemes.size === 0) return ownPlacement(settings);
  const singles =
    asked.length === 0 ? [...schemes.keys()] : asked.flatMap(([name, ...more]) => (more.length > 0 ? [] : [name!]));
  const fits = singles.flatMap((name) => placeBy(settings, schemes.get(name)) ?? []);
  const chosen = fits.find((it) => isOwn(it, settings)) ?? fits[0];
  if (chosen !== undefined) return chosen;
  const wanted = (asked.length === 0 ? singles.map((name) => [name]) : asked).map((names) =>
    describeRequirement(names, schemes),
  );
  throw new CredentialMismatch(`the agent asks for ${wanted.slice(0, MOST_REPORTED).join(' or ')}`);
}

/**
 * Returns the place of a credential by its own settings, without a card: for an API key the place that they state, for
 * every other kind the `Authorization` header.
 */
function ownPlacement(settings: CredentialSettings): Placement {
  if (settings.kind === 'api-key') return { in: settings.in, parameter: settings.parameter };
  return { in: 'authorization', scheme: settings.kind === 'basic' ? 'Basic' : 'Bearer' };
}

function placeBy(settings: CredentialSettings, scheme: SecurityScheme | undefined): Placement | undefined {
  if (scheme === undefined) return undefined;
  if (settings.kind === 'api-key') return scheme.type === 'apiKey' ? keyPlacement(scheme) : undefined;
  return meetsScheme(settings.kind, scheme) ? ownPlacement(settings) : undefined;
}

/**
 * Returns the place that a card requests for an API key. Returns `undefined` if the name is not valid in that place, or
 * if it is the name of a header in which no credential may be sent.
 */
function keyPlacement({ in: place, name }: Extract<SecurityScheme, { type: 'apiKey' }>): Placement | undefined {
  const possible = place === 'header' ? mayCarrySecret(name) : place === 'cookie' ? isToken(name) : name !== '';
  return possible ? { in: place, parameter: name } : undefined;
}

/**
 * True if a credential fits a scheme of a card. A bearer token fits every OAuth 2.0 and OpenID Connect scheme, because
 * the token does not show which server issued it. A credential with OAuth 2.0 client credentials fits an OAuth 2.0
 * scheme only if that scheme has the client credentials flow.
 */
function meetsScheme(kind: Exclude<CredentialSettings['kind'], 'api-key'>, scheme: SecurityScheme): boolean {
  if (kind === 'basic') return scheme.type === 'http' && scheme.scheme === 'basic';
  if (scheme.type === 'http') return scheme.scheme === 'bearer';
  if (scheme.type === 'oauth2') return kind === 'bearer' || scheme.clientCredentials;
  return scheme.type === 'openIdConnect';
}

function isOwn(chosen: Placement, settings: CredentialSettings): boolean {
  if (settings.kind !== 'api-key' || chosen.in === 'authorization') return false;
  const same = chosen.in === 'header' ? equalIgnoringCase : Object.is;
  return chosen.in === settings.in && same(chosen.parameter, settings.parameter);
}

function equalIgnoringCase(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

/** Maximum number of requirements that an error lists, since a card may be long. */
const MOST_REPORTED = 10;
/** Maximum characters of a name in an error. */
const LONGEST_REPORTED = 64;

function describeRequirement(names: readonly string[], schemes: RequiredSecurity['schemes']): string {
  return names
    .map((name) => `${textStart(name, LONGEST_REPORTED)} (${describeScheme(schemes.get(name))})`)
    .join(' with ');
}

function describeScheme(scheme: SecurityScheme | undefined): string {
  if (scheme === undefined) return 'not described';
  switch (scheme.type) {
    case 'apiKey':
      return `apiKey in ${scheme.in} ${textStart(scheme.name, LONGEST_REPORTED)}`;
    case 'http':
      return `http ${textStart(scheme.scheme, LONGEST_REPORTED)}`;
    case 'oauth2':
      return scheme.clientCredentials ? 'oauth2 clientCredentials' : 'oauth2 without clientCredentials';
    default:
      return scheme.type;
  }
}

/** `cookie-octet` of RFC 6265, section 4.1.1. */
const COOKIE_VALUE = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*$/;
/** Minimum length of a secret that is redacted: a shorter text may be part of any word. */
const SHORTEST_HIDDEN = 4;

/**
 * Returns the authentication of a request: its header or query parameter, and the secrets to redact in errors and
 * logs.
 * @param secret the key, the token or the password
 * @param origin the only origin that may receive it
 * @throws CredentialMismatch if the secret has characters that its place does not allow
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

/**
 * Returns the secrets to redact, longest first: if a shorter secret inside a longer one were redacted first, the rest
 * of the longer one would remain. Secrets shorter than SHORTEST_HIDDEN are left out.
 */
function secretsToHide(...secrets: string[]): string[] {
  const long = [...new Set(secrets)].filter((it) => it.length >= SHORTEST_HIDDEN);
  return long.toSorted((a, b) => b.length - a.length);
}
