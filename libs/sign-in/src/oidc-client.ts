import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import * as oidc from 'openid-client';
import type { Caller } from '#libs/access';
import { type FaultKind, ParleyFault } from '#libs/faults';
import { type OutboundFetch, OutboundHttp } from '#libs/http-client';
import { AppConfig, type OidcConfig } from '#libs/service';
import { areComplete, callerOfPerson, type PersonClaims } from './person-claims.js';

/** Maximum seconds of each request to the provider. */
const TIMEOUT_SECONDS = 10;
/** Time in milliseconds that the provider's metadata is used before it is read again. */
const METADATA_MS = 3_600_000;
/** Milliseconds that earlier metadata of the provider stay in use after a failed attempt to read them again. */
const RETRY_MS = 60_000;
/** Maximum number of UTF-16 code units of a text in a log. */
const MAX_LOGGED = 200;
/** Path of the redirect URI, below PUBLIC_URL. */
const CALLBACK = '/auth/callback';

/**
 * Reason why a sign-in failed, which the console explains.
 * - `provider-away`: the provider could not be reached
 * - `refused`: the provider refused, or the person declined there
 * - `expired`: the sign-in was not begun in this browser, took too long, or was completed before
 * - `invalid`: the answer of the provider could not be verified
 * - `no-name`, `no-role`: the person has no name or no role for this service
 * - `busy`: too many sign-ins at once, or too many sessions
 */
export type SignInFailure = 'provider-away' | 'refused' | 'expired' | 'invalid' | 'no-name' | 'no-role' | 'busy';

const KINDS: Readonly<Record<SignInFailure, FaultKind>> = {
  'provider-away': 'connect',
  refused: 'refused',
  expired: 'refused',
  invalid: 'invalid-response',
  'no-name': 'unauthorized',
  'no-role': 'unauthorized',
  busy: 'overloaded',
};

/** Error of a failed sign-in. */
export class SignInError extends ParleyFault {
  override readonly name = 'SignInError';

  constructor(readonly reason: SignInFailure) {
    super(`The sign-in failed: ${reason}`);
  }

  override get kind(): FaultKind {
    return KINDS[this.reason];
  }
}

/**
 * Secrets of a sign-in that has begun. The cookie of the browser that began the sign-in carries them; no other browser
 * has them.
 */
export interface SignInSecrets {
  state: string;
  nonce: string;
  verifier: string;
}

/** Person who has signed in at the provider. */
export interface SignedInPerson {
  caller: Caller;
  idToken?: string;
}

type GrantedTokens = Awaited<ReturnType<typeof oidc.authorizationCodeGrant>>;

interface KnownProvider {
  configuration: oidc.Configuration;
  /** Time of the process's clock, in milliseconds, after which the provider's metadata are read again. */
  readAgainAt: number;
}

/**
 * Client of the OpenID Connect provider in CONSOLE_OIDC_ISSUER: authorization code with PKCE, state and nonce. The
 * signature of every ID token is verified. No text of a log contains a code, a token or the secret.
 */
@Injectable()
export class OidcClient implements OnApplicationBootstrap {
  private readonly logger = new Logger(OidcClient.name);
  private readonly config: OidcConfig | undefined;
  private readonly publicUrl: string;
  private readonly fetch: OutboundFetch | undefined;
  private known: KnownProvider | undefined;
  private reading: Promise<oidc.Configuration> | undefined;

  constructor({ auth, publicUrl = '' }: AppConfig, http: OutboundHttp) {
    this.config = auth.oidc;
    this.publicUrl = publicUrl;
    // The operator configured the provider, so it may be in a private network.
    this.fetch = auth.oidc && http.trustingFetch(auth.oidc.issuer);
  }

  /** True if an OpenID Connect provider is configured, at which people can sign in. */
  get isConfigured(): boolean {
    return this.config !== undefined;
  }

  /** Reads the provider's metadata, so that a wrong issuer is reported at the start. The start does not wait. */
  onApplicationBootstrap(): void {
    if (this.config) this.readProvider().catch(() => undefined);
  }

  /**
   * Begins a sign-in.
   * @returns the provider's address to open
   * @throws SignInError `provider-away` if the provider's metadata could never be read
   */
  async beginSignIn({ state, nonce, verifier }: SignInSecrets): Promise<URL> {
    const configuration = await this.readProvider();
    return oidc.buildAuthorizationUrl(configuration, {
      redirect_uri: this.publicUrl + CALLBACK,
      scope: this.config!.scope,
      state,
      nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
  }

  /**
   * Completes a sign-in with the provider's answer.
   * @param query query of the redirect to the callback
   * @throws SignInError with the reason why the sign-in failed
   */
  async completeSignIn(query: string, { state, nonce, verifier }: SignInSecrets): Promise<SignedInPerson> {
    const configuration = await this.readProvider();
    const url = new URL(`${this.publicUrl}${CALLBACK}${query}`);
    const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true };
    try {
      const tokens = await oidc.authorizationCodeGrant(configuration, url, checks);
      const claims = await this.readClaims(configuration, tokens);
      const caller = callerOfPerson(claims, this.config!);
      if (typeof caller === 'string') throw new SignInError(caller);
      return { caller, ...(tokens.id_token !== undefined && { idToken: tokens.id_token }) };
    } catch (error) {
      throw this.failureOf(error);
    }
  }

  /**
   * Returns the address that ends a person's session at the provider. Returns `undefined` if no provider is configured,
   * the provider has no such address, or its metadata cannot be read.
   */
  async endSessionUrl(idToken: string): Promise<string | undefined> {
    if (!this.config) return undefined;
    try {
      const configuration = await this.readProvider();
      if (configuration.serverMetadata().end_session_endpoint === undefined) return undefined;
      const parameters = { post_logout_redirect_uri: `${this.publicUrl}/`, id_token_hint: idToken };
      return oidc.buildEndSessionUrl(configuration, parameters).href;
    } catch {
      return undefined;
    }
  }

  private async readClaims(configuration: oidc.Configuration, tokens: GrantedTokens): Promise<PersonClaims> {
    const ofToken = tokens.claims();
    if (ofToken === undefined) throw new SignInError('invalid');
    if (areComplete(ofToken, this.config!) || configuration.serverMetadata().userinfo_endpoint === undefined)
      return ofToken;
    return { ...(await oidc.fetchUserInfo(configuration, tokens.access_token, ofToken.sub)), ...ofToken };
  }

  /**
   * Returns the provider's metadata, and reads them first unless they were read lately. Concurrent calls share one
   * request. If the read fails, the earlier metadata stay in use.
   * @throws SignInError `provider-away` if the metadata could never be read
   */
  private async readProvider(): Promise<oidc.Configuration> {
    const { known } = this;
    if (known && performance.now() < known.readAgainAt) return known.configuration;
    this.reading ??= this.readMetadata().finally(() => (this.reading = undefined));
    return this.reading;
  }

  private async readMetadata(): Promise<oidc.Configuration> {
    const { known } = this;
    try {
      const configuration = await this.discoverProvider();
      this.known = { configuration, readAgainAt: performance.now() + METADATA_MS };
      return configuration;
    } catch (error) {
      const text = 'The provider in CONSOLE_OIDC_ISSUER cannot be used';
      this.logger.warn(describeFailure(error), known ? `${text}; its earlier metadata are` : `${text}: sign-ins fail`);
      if (!known) throw new SignInError('provider-away');
      // The metadata rarely change, and a provider that was there is probably still the same.
      this.known = { ...known, readAgainAt: performance.now() + RETRY_MS };
      return known.configuration;
    }
  }

  private discoverProvider(): Promise<oidc.Configuration> {
    const { issuer, clientId, clientSecret } = this.config!;
    const authentication = clientSecret === undefined ? oidc.None() : undefined;
    return oidc.discovery(new URL(issuer), clientId, clientSecret, authentication, {
      [oidc.customFetch]: this.fetch as unknown as oidc.CustomFetch,
      timeout: TIMEOUT_SECONDS,
      execute: [oidc.enableNonRepudiationChecks, ...(issuer.startsWith('http:') ? [oidc.allowInsecureRequests] : [])],
    });
  }

  /** Logs why a sign-in failed, without any secret. Returns the error whose reason the console shows to the person. */
  private failureOf(error: unknown): SignInError {
    const failure = error instanceof SignInError ? error : new SignInError(reasonOf(error));
    this.logger.warn({ reason: failure.reason, ...describeFailure(error) }, 'A person could not sign in');
    return failure;
  }
}

/** Codes of `openid-client` for errors without a usable answer of the provider; `undefined`: the call itself failed. */
const AWAY = new Set([undefined, 'OAUTH_TIMEOUT', 'OAUTH_ABORT', 'OAUTH_RESPONSE_IS_NOT_CONFORM']);

function reasonOf(error: unknown): SignInFailure {
  if (error instanceof oidc.AuthorizationResponseError) return 'refused';
  if (error instanceof oidc.ResponseBodyError) {
    if (error.status >= 500) return 'provider-away';
    return error.error === 'invalid_grant' ? 'expired' : 'invalid';
  }
  if (error instanceof oidc.ClientError) return AWAY.has(error.code) ? 'provider-away' : 'invalid';
  return 'provider-away';
}

/**
 * Returns the parts of an error that contain no secret: its name and code, and the provider's error code, but no bodies
 * and no parameters. Each text is truncated, because the error code of a refused sign-in comes from the browser's
 * request.
 */
function describeFailure(error: unknown): Record<string, string> {
  const {
    name,
    code,
    error: oauth,
    message,
  } = error as { name?: string; code?: string; error?: string; message?: string };
  const detail = { name, code, oauth, message: oauth === undefined ? message : undefined };
  const given = Object.entries(detail).filter((entry): entry is [string, string] => !!entry[1]);
  return Object.fromEntries(given.map(([key, text]) => [key, text.slice(0, MAX_LOGGED)]));
}
