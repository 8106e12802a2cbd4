import { Injectable } from '@nestjs/common';
import { OutboundHttp } from '#libs/outbound';
import { Metrics } from '#libs/service';
import { LRUCache } from 'lru-cache';
import type { OAuth2Settings, UsableCredential } from './credential.js';
import { CachedToken } from './cached-token.js';
import { type IssuedToken, readToken, tokenRequest } from './token-request.js';

const FETCH_MS = 10_000;
const MAX_ANSWER_BYTES = 64 * 1024;

export type OAuth2Credential = UsableCredential & { settings: OAuth2Settings };

/** Caches the tokens of OAuth 2.0 credentials in this process while they are valid. */
@Injectable()
export class OAuthTokens {
  /** Tokens by version of the credential: a modified credential gets new tokens. */
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

  /** Returns another token than one that an agent rejected. Rejects like `getToken`. */
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
