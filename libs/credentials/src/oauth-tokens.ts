import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { type OutboundCall, OutboundHttp } from '#libs/http-client';
import { Metrics } from '#libs/service';
import type { OAuth2Settings, UsableCredential } from './credential.js';
import { basicCredentials } from './placement.js';

/** Access token of an authorization server (OAuth 2.0). */
export interface IssuedToken {
  value: string;
  lifetimeMs: number;
}

/** Reports a response of a token endpoint without a token. `temporary`: the same request may succeed later. */
export class TokenRefused extends Error {
  override readonly name = 'TokenRefused';

  constructor(
    message: string,
    readonly temporary: boolean,
  ) {
    super(message);
  }
}

/**
 * Lifetime in seconds of a token whose response names none (RFC 6749, section 5.1, leaves it to the server's
 * documentation).
 */
const DEFAULT_LIFETIME_S = 300;
const LONGEST_LIFETIME_S = 24 * 3600;
const MAX_TOKEN = 16 * 1024;
/** Characters of a header value without spaces. */
const TOKEN = /^[\x21-\x7e]+$/;
/** Error codes (RFC 6749, section 5.2) that messages quote. Other codes are not quoted: a server may send any text. */
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
function tokenRequest(settings: OAuth2Settings, secret: string): OutboundCall {
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
function readToken(status: number, text: string): IssuedToken {
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

/**
 * Fraction of a token's lifetime. The token is refreshed once only this fraction is left, or only LONGEST_LEFT_MS if
 * that is less.
 */
const SHARE_LEFT = 0.2;
const LONGEST_LEFT_MS = 60_000;

interface Current {
  value: string;
  freshUntil: number;
  endsAt: number;
}

/**
 * Caches the token of one credential. Concurrent calls share one request for a token. The token is refreshed before
 * it expires; if the refresh fails, the old token stays in use until it expires.
 */
export class CachedToken {
  private current: Current | undefined;
  private fetching: Promise<string> | undefined;

  /**
   * @param fetch requests a token
   * @param now milliseconds of a monotonic clock
   */
  constructor(
    private readonly fetch: () => Promise<IssuedToken>,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Returns the token. Rejects like `fetch`. */
  async get(): Promise<string> {
    const { current } = this;
    if (current !== undefined && this.now() < current.freshUntil) return current.value;
    try {
      return await this.fetchShared();
    } catch (error) {
      const kept = this.current;
      if (kept !== undefined && this.now() < kept.endsAt) return kept.value;
      throw error;
    }
  }

  /**
   * Returns a token other than `refused`, which an agent rejected: the cached token if it differs, otherwise a new one.
   */
  async replaceRefused(refused: string): Promise<string> {
    if (this.current?.value === refused) this.current = undefined;
    return this.get();
  }

  private fetchShared(): Promise<string> {
    this.fetching ??= this.fetchOne().finally(() => (this.fetching = undefined));
    return this.fetching;
  }

  /** Fetches a token. Its lifetime counts from the time of the request, since the response may be slow. */
  private async fetchOne(): Promise<string> {
    const askedAt = this.now();
    const { value, lifetimeMs } = await this.fetch();
    const left = Math.min(lifetimeMs * SHARE_LEFT, LONGEST_LEFT_MS);
    const endsAt = askedAt + lifetimeMs;
    this.current = { value, freshUntil: endsAt - left, endsAt };
    return value;
  }
}

const FETCH_MS = 10_000;
const MAX_ANSWER_BYTES = 64 * 1024;

export type OAuth2Credential = UsableCredential & { settings: OAuth2Settings };

/** Caches the tokens of OAuth 2.0 credentials in this process until they expire. */
@Injectable()
export class OAuthTokens {
  /** Tokens by the version of the credential, so that a replaced credential gets new tokens. */
  private readonly kept = new LRUCache<string, CachedToken>({ max: 1_000 });
  private readonly fetches;

  constructor(
    private readonly http: OutboundHttp,
    metrics: Metrics,
  ) {
    this.fetches = metrics.counter(
      'parley_oauth_token_requests_total',
      'Requests for OAuth 2.0 tokens to call agents with',
      ['outcome'],
    );
  }

  /** Returns the token of a credential. Rejects with TokenRefused, or with an error of the outbound client. */
  getToken(credential: OAuth2Credential): Promise<string> {
    return this.cachedTokenOf(credential).get();
  }

  /** Returns a token other than `refused`, which an agent rejected. Rejects like `getToken`. */
  replaceToken(credential: OAuth2Credential, refused: string): Promise<string> {
    return this.cachedTokenOf(credential).replaceRefused(refused);
  }

  private cachedTokenOf(credential: OAuth2Credential): CachedToken {
    const { version } = credential;
    const token = this.kept.get(version) ?? new CachedToken(() => this.fetchToken(credential));
    this.kept.set(version, token);
    return token;
  }

  private async fetchToken({ settings, secret }: OAuth2Credential): Promise<IssuedToken> {
    let outcome = 'failed';
    try {
      const answer = await this.http.request({ ...tokenRequest(settings, secret), totalMs: FETCH_MS });
      const token = readToken(answer.status, await answer.readText(MAX_ANSWER_BYTES));
      outcome = 'ok';
      return token;
    } finally {
      this.fetches.inc({ outcome });
    }
  }
}
