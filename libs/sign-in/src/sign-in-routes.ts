import { Controller, Get, Header, Injectable, NotFoundException, Query, Req, Res } from '@nestjs/common';
import { ApiExcludeEndpoint, ApiOkResponse, ApiOperation, ApiPropertyOptional, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import * as oidc from 'openid-client';
import { ConsoleSessions, oidcMethod, SessionCookies } from '#libs/access';
import { ProblemError } from '#libs/http-server';
import { Database, SecretBox, serviceSecret } from '#libs/postgres';
import { AppConfig } from '#libs/service';
import { OidcClient, SignInError, type SignInFailure, type SignInSecrets } from './oidc-client.js';
import { readReturnPath } from './return-path.js';

/**
 * Prefix of the names of the cookies that hold sign-ins which have begun. The rest of a name is a digest of the
 * sign-in's `state`.
 */
const NAME = 'parley-sign-in';
const PLACE = [NAME];
/**
 * Maximum number of sign-ins that a browser has begun and not completed, such as one for each tab; a further one
 * replaces the oldest.
 */
const MAX_BEGUN = 4;
/** Maximum seconds from the start of a sign-in until the person has signed in at the provider. */
const MAX_SECONDS = 600;
/** Maximum number of answers of the provider that this replica processes at once. */
const MAX_AT_ONCE = 32;

/** Sign-in that has begun, as its cookie carries it, encrypted. */
interface BegunSignIn extends SignInSecrets {
  /** Page of the console to show afterwards. */
  returnTo: string;
  /** Expiry in milliseconds since 1970. */
  endsAt: number;
}

/** Creates, reads and removes the encrypted cookies of sign-ins that have begun. Every replica can decrypt them. */
@Injectable()
export class BegunSignIns {
  private constructor(
    private readonly box: SecretBox,
    private readonly cookies: SessionCookies,
  ) {}

  static async openBegunSignIns(database: Database, cookies: SessionCookies): Promise<BegunSignIns> {
    return new BegunSignIns(new SecretBox([await serviceSecret(database, NAME)]), cookies);
  }

  /**
   * Returns the `Set-Cookie` headers of the response that begins a sign-in. One sets the cookie of this sign-in (`Lax`,
   * so that the provider's redirect carries it). The others remove the oldest cookies beyond MAX_BEGUN, and invalid
   * ones.
   */
  cookiesFor(request: IncomingMessage, begun: Omit<BegunSignIn, 'endsAt'>): string[] {
    const endsAt = Date.now() + MAX_SECONDS * 1000;
    const value = this.box.seal(JSON.stringify({ ...begun, endsAt } satisfies BegunSignIn), PLACE);
    const own = [nameFor(begun.state), value] as [string, string];
    const cookie = this.cookies.makeCookie(request, own, { maxAge: MAX_SECONDS, sameSite: 'Lax' });
    return [...this.excessNames(request).map((name) => this.removeName(request, name)), cookie];
  }

  /** Returns the `Set-Cookie` header that removes the cookie of a sign-in. Other sign-ins of the browser stay. */
  removedCookie(request: IncomingMessage, { state }: BegunSignIn): string {
    return this.removeName(request, nameFor(state));
  }

  /**
   * Returns the sign-in that this browser began with the given `state`. Returns `undefined` if the browser has no valid
   * cookie of that sign-in, or more than MAX_SECONDS have passed since the sign-in began.
   */
  findBegun(request: IncomingMessage, state: string): BegunSignIn | undefined {
    return this.readBegun(request, nameFor(state));
  }

  private readBegun(request: IncomingMessage, name: string): BegunSignIn | undefined {
    const value = this.cookies.readCookie(request, name);
    if (value === undefined) return undefined;
    try {
      const begun = JSON.parse(this.box.open(value, PLACE)) as BegunSignIn;
      return Date.now() < begun.endsAt ? begun : undefined;
    } catch {
      return undefined;
    }
  }

  /** Returns the names of the cookies to remove before a further sign-in begins: the oldest and all invalid ones. */
  private excessNames(request: IncomingMessage): string[] {
    const endOf = (name: string): number => this.readBegun(request, name)?.endsAt ?? 0;
    const byEnd = this.cookies
      .listCookies(request, NAME)
      .map((name) => ({ name, endsAt: endOf(name) }))
      .toSorted((one, other) => other.endsAt - one.endsAt);
    return byEnd.filter(({ endsAt }, index) => endsAt === 0 || index >= MAX_BEGUN - 1).map(({ name }) => name);
  }

  private removeName(request: IncomingMessage, name: string): string {
    return this.cookies.makeCookie(request, [name, ''], { maxAge: 0, sameSite: 'Lax' });
  }
}

function nameFor(state: string): string {
  return `${NAME}-${hash('sha256', state, 'base64url').slice(0, 16)}`;
}

/** Ways to sign in, as `/auth/options` shows them to everyone. */
class SignInOptionsView {
  @ApiPropertyOptional({
    description:
      'Address that begins a sign-in at the OpenID Connect provider; the query `return` names the page of the ' +
      'console to show afterwards. Absent without a provider.',
    example: 'https://parley.example.com/auth/sign-in',
  })
  signInUrl?: string;
}

/** Routes by which a person signs in to the console at the provider in CONSOLE_OIDC_ISSUER. They are public. */
@ApiTags('session')
@Controller('auth')
export class SignInController {
  private atOnce = 0;

  constructor(
    private readonly client: OidcClient,
    private readonly begun: BegunSignIns,
    private readonly sessions: ConsoleSessions,
    private readonly cookies: SessionCookies,
    private readonly config: AppConfig,
  ) {}

  @Get('options')
  @Header('cache-control', 'no-store')
  @ApiOperation({ summary: 'Returns the ways to sign in to the console.' })
  @ApiOkResponse({ type: SignInOptionsView })
  getSignInOptions(): SignInOptionsView {
    return this.client.isConfigured ? { signInUrl: `${this.config.publicUrl}/auth/sign-in` } : {};
  }

  @Get('sign-in')
  @ApiExcludeEndpoint()
  async beginSignIn(
    @Query('return') wanted: unknown,
    @Req() { raw }: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    this.assertConfigured();
    const returnTo = readReturnPath(wanted);
    const secrets = { state: oidc.randomState(), nonce: oidc.randomNonce(), verifier: oidc.randomPKCECodeVerifier() };
    try {
      const url = await this.client.beginSignIn(secrets);
      redirect(reply, url.href, this.begun.cookiesFor(raw, { ...secrets, returnTo }));
    } catch (error) {
      this.showFailure(reply, error, returnTo);
    }
  }

  @Get('callback')
  @ApiExcludeEndpoint()
  async completeSignIn(@Req() { raw }: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    this.assertConfigured();
    const state = new URLSearchParams(queryOf(raw.url)).get('state') ?? '';
    const begun = this.begun.findBegun(raw, state);
    if (!begun) return this.showFailure(reply, new SignInError('expired'), '/');
    const used = this.begun.removedCookie(raw, begun);
    try {
      const cookie = await this.createSession(raw, begun);
      redirect(reply, begun.returnTo, [used, cookie]);
    } catch (error) {
      this.showFailure(reply, error, begun.returnTo, [used]);
    }
  }

  private async createSession(raw: IncomingMessage, begun: BegunSignIn): Promise<string> {
    if (this.atOnce >= MAX_AT_ONCE) throw new SignInError('busy');
    this.atOnce += 1;
    try {
      const { caller, idToken } = await this.client.completeSignIn(queryOf(raw.url), begun);
      const { token, endsAt } = await this.sessions.createSession(caller, oidcMethod(this.config.auth.oidc!), idToken);
      return this.cookies.sessionCookie(raw, token, endsAt);
    } finally {
      this.atOnce -= 1;
    }
  }

  private assertConfigured(): void {
    if (!this.client.isConfigured) throw new NotFoundException();
  }

  /** Redirects to the console's page about a failed sign-in. Rethrows any error other than a failed sign-in. */
  private showFailure(reply: FastifyReply, error: unknown, returnTo: string, cookies: readonly string[] = []): void {
    const reason = failureReason(error);
    if (reason === undefined) throw error;
    redirect(reply, `/sign-in-failed?${new URLSearchParams({ reason, return: returnTo }).toString()}`, cookies);
  }
}

function failureReason(error: unknown): SignInFailure | undefined {
  if (error instanceof SignInError) return error.reason;
  return error instanceof ProblemError && error.status === 503 ? 'busy' : undefined;
}

function queryOf(url = ''): string {
  const start = url.indexOf('?');
  return start < 0 ? '' : url.slice(start);
}

/**
 * Redirects a browser. The response forbids a Referer header, because the address of this request may contain a code
 * that no other site may learn.
 */
function redirect(reply: FastifyReply, url: string, cookies: readonly string[]): void {
  void reply
    .headers({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer', 'set-cookie': [...cookies] })
    .redirect(url, 303);
}
