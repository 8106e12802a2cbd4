import { Injectable } from '@nestjs/common';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { ServiceAddress } from '#libs/http-server';
import { AppConfig } from '#libs/service';
import { isForeignPage } from './browser-guard.js';

/** Header that the console sends with each request. A page of another origin cannot send it without a preflight. */
const CONSOLE_HEADER = 'x-requested-with';
const CONSOLE_VALUE = 'parley-console';
/** Name of the session's cookie. Over HTTPS it is prefixed with `__Host-`, so that no other host can set the cookie. */
const NAME = 'parley-session';

/** Attributes in which the cookies of the console differ; `makeCookie` adds the common attributes. */
export interface CookieAttributes {
  /** Seconds that the browser keeps the cookie; 0 removes it. */
  maxAge: number;
  sameSite: 'Strict' | 'Lax';
}

/**
 * Cookies of the console. A request counts as the console's only with all of these, so that a page of another origin
 * can use no cookie of a session, neither to read nor to write:
 * - the header `X-Requested-With: parley-console`
 * - an `Origin`, if there is one, that is the service's own; CORS_ORIGINS does not matter
 * - a `Sec-Fetch-Site`, if there is one, of the same origin
 *
 * No WebSocket and no gRPC call is authenticated by a cookie: a WebSocket needs a ticket.
 */
@Injectable()
export class SessionCookies {
  private readonly ownHosts: readonly string[];

  constructor(
    { publicUrl, internalUrl }: AppConfig,
    private readonly address: ServiceAddress,
  ) {
    this.ownHosts = [publicUrl, internalUrl].filter((url) => url !== undefined).map((url) => new URL(url).host);
  }

  /** Returns the session token in the cookie of a request from the console; `undefined` for any other request. */
  readToken(request: IncomingMessage): string | undefined {
    if (request.headers.cookie === undefined || !this.isFromConsole(request)) return undefined;
    return this.readCookie(request, NAME);
  }

  /** Returns the value of a cookie of the console; `undefined` without it. */
  readCookie(request: IncomingMessage, name: string): string | undefined {
    return cookieOf(request.headers, this.nameFor(request, name));
  }

  /**
   * Returns the names of the console's cookies that begin with a prefix. The names lack `__Host-`, so that `readCookie`
   * accepts them.
   */
  listCookies(request: IncomingMessage, prefix: string): string[] {
    const first = this.nameFor(request, '').length;
    const names = cookiesOf(request.headers).map((it) => it.split('=', 1)[0] ?? '');
    return [...new Set(names)]
      .filter((it) => it.startsWith(this.nameFor(request, prefix)))
      .map((it) => it.slice(first));
  }

  /** Returns the `Set-Cookie` header that gives a browser its session. */
  sessionCookie(request: IncomingMessage, token: string, endsAt: Date): string {
    const maxAge = Math.max(0, Math.floor((endsAt.getTime() - Date.now()) / 1000));
    return this.makeCookie(request, [NAME, token], { maxAge, sameSite: 'Strict' });
  }

  /** Returns the `Set-Cookie` header that removes the session from a browser. */
  removedSession(request: IncomingMessage): string {
    return this.makeCookie(request, [NAME, ''], { maxAge: 0, sameSite: 'Strict' });
  }

  /** Returns a `Set-Cookie` header for a cookie that scripts cannot read. */
  makeCookie(request: IncomingMessage, [name, value]: [string, string], attributes: CookieAttributes): string {
    const { maxAge, sameSite } = attributes;
    const secure = this.isSecure(request) ? '; Secure' : '';
    return `${this.nameFor(request, name)}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=${sameSite}${secure}`;
  }

  private isFromConsole(request: IncomingMessage): boolean {
    const { headers } = request;
    if (headers[CONSOLE_HEADER] !== CONSOLE_VALUE) return false;
    const own = [this.address.forwardedHost(request) ?? headers.host, ...this.ownHosts];
    return !isForeignPage(headers, { own, listed: new Set() });
  }

  private nameFor(request: IncomingMessage, name: string): string {
    return this.isSecure(request) ? `__Host-${name}` : name;
  }

  /** True if the browser reached the service over HTTPS. */
  private isSecure(request: IncomingMessage): boolean {
    return this.address.publicBaseUrl(request).startsWith('https:');
  }
}

/**
 * Returns the value of a cookie (RFC 6265, section 4.2); `undefined` if no cookie or more than one cookie has the name.
 */
function cookieOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const prefix = `${name}=`;
  const [value, ...others] = cookiesOf(headers).filter((it) => it.startsWith(prefix));
  return others.length > 0 ? undefined : value?.slice(prefix.length);
}

function cookiesOf({ cookie = '' }: IncomingHttpHeaders): string[] {
  return cookie.split(';').map((it) => it.trim());
}
