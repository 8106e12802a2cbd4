import type { OutboundCall } from '#libs/outbound';
import { basicCredentials } from './request-auth.js';
import type { OAuth2Settings } from './credential.js';

/** Token of an authorization server. */
export interface IssuedToken {
  value: string;
  lifetimeMs: number;
}

/** Reports a response without a token. `temporary`: the same request may succeed later. */
export class TokenRefused extends Error {
  override readonly name = 'TokenRefused';

  constructor(
    message: string,
    readonly temporary: boolean,
  ) {
    super(message);
  }
}

/** Lifetime of a token whose response has none (RFC 6749, section 5.1, leaves it to the documentation). */
const DEFAULT_LIFETIME_S = 300;
const LONGEST_LIFETIME_S = 24 * 3600;
const MAX_TOKEN = 16 * 1024;
/** Characters of a header value without spaces. */
const TOKEN = /^[\x21-\x7e]+$/;
/** Error codes of RFC 6749, section 5.2. Other values are not repeated, since a server may return anything. */
const ERRORS = [
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
  'invalid_target',
];

/** Builds the request for a token with the client credentials grant (RFC 6749, section 4.4.2). */
export function tokenRequest(settings: OAuth2Settings, secret: string): OutboundCall {
  const { tokenUrl, clientId, scopes, audience, clientAuthentication } = settings;
  const inBody = clientAuthentication === 'body';
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
    ...(audience !== undefined && { audience }),
    ...(inBody && { client_id: clientId, client_secret: secret }),
  });
  const headers: Record<string, string> = {
    accept: 'application/json',
    'content-type': 'application/x-www-form-urlencoded',
  };
  // Section 2.3.1: both parts are form-encoded before they are joined.
  if (!inBody) headers.authorization = `Basic ${basicCredentials(formEncoded(clientId), formEncoded(secret))}`;
  return { url: new URL(tokenUrl), method: 'POST', headers, body: body.toString(), redirect: 'error' };
}

/** Parses the response of a token endpoint. @throws TokenRefused */
export function readToken(status: number, text: string): IssuedToken {
  const body = parseAnswer(text);
  if (status >= 500 || status === 429) throw new TokenRefused(`the token endpoint answered HTTP ${status}`, true);
  if (status !== 200) {
    const code = ERRORS.find((it) => it === body.error);
    throw new TokenRefused(`the token endpoint answered HTTP ${status}${code ? ` (${code})` : ''}`, false);
  }
  const { access_token: value, token_type: type, expires_in: seconds } = body;
  if (typeof value !== 'string' || value.length > MAX_TOKEN || !TOKEN.test(value)) {
    throw new TokenRefused('the token endpoint answered without a token', false);
  }
  if (typeof type === 'string' && type.toLowerCase() !== 'bearer') {
    throw new TokenRefused('the token endpoint answered with a token that is no bearer token', false);
  }
  return { value, lifetimeMs: lifetimeSeconds(seconds) * 1000 };
}

/** Parses a lifetime in seconds; some servers send it as text. */
function lifetimeSeconds(given: unknown): number {
  const seconds = typeof given === 'string' && /^\d{1,10}$/.test(given) ? Number(given) : given;
  if (typeof seconds !== 'number' || !Number.isFinite(seconds)) return DEFAULT_LIFETIME_S;
  return Math.min(Math.max(seconds, 0), LONGEST_LIFETIME_S);
}

function parseAnswer(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function formEncoded(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1);
}
