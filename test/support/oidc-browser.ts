import { OF_CONSOLE } from './console-session.js';
import { CLIENT_ID, CLIENT_SECRET, type OidcProvider } from './oidc-provider.mjs';

/** Returns the environment of a service at `publicUrl` whose people sign in at this provider. */
export function oidcEnv(publicUrl: string, { issuer }: Pick<OidcProvider, 'issuer'>): Record<string, string> {
  return {
    PUBLIC_URL: publicUrl,
    PORT: new URL(publicUrl).port,
    CONSOLE_OIDC_ISSUER: issuer,
    CONSOLE_OIDC_CLIENT_ID: CLIENT_ID,
    CONSOLE_OIDC_CLIENT_SECRET: CLIENT_SECRET,
    CONSOLE_OIDC_ROLES: 'parley-admins=agents+workflows+admin, parley-users=agents',
    CONSOLE_OIDC_ROLES_CLAIM: 'realm_access.roles',
    CONSOLE_OIDC_TENANT_CLAIM: 'org',
  };
}

/** Browser without pages: it follows redirects, and keeps the cookies of each origin. */
export class OidcBrowser {
  private readonly jars = new Map<string, Map<string, string>>();

  /** Requests one address, with the cookies of its origin. */
  async request(address: string | URL): Promise<Response> {
    const url = new URL(address);
    const jar = this.jars.get(url.origin) ?? new Map<string, string>();
    this.jars.set(url.origin, jar);
    const cookie = [...jar].map((pair) => pair.join('=')).join('; ');
    const response = await fetch(url, { redirect: 'manual', headers: cookie === '' ? {} : { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';', 1);
      const name = pair.slice(0, pair.indexOf('='));
      if (/max-age=0|expires=thu, 01 jan 1970/i.test(line)) jar.delete(name);
      else jar.set(name, pair.slice(name.length + 1));
    }
    return response;
  }

  /** Follows redirects from an address as long as `goesOn` is true for the next one. @returns the last address */
  async follow(address: string | URL, goesOn: (url: URL) => boolean): Promise<URL> {
    for (let url = new URL(address); ;) {
      if (!goesOn(url)) return url;
      const response = await this.request(url);
      await response.body?.cancel();
      const location = response.headers.get('location');
      if (location === null) return url;
      url = new URL(location, url);
    }
  }

  /**
   * Signs in at the provider, up to the redirect back to the service. @returns the address of the callback, which was
   * not requested
   */
  async untilCallback(service: string, returnTo = '/runs', change: (url: URL) => void = () => undefined): Promise<URL> {
    const begun = await this.request(`${service}/auth/sign-in?return=${encodeURIComponent(returnTo)}`);
    const authorization = new URL(begun.headers.get('location') ?? '');
    change(authorization);
    return this.follow(authorization, (url) => url.pathname !== '/auth/callback');
  }

  /** Signs in. @returns the page of the console to which the sign-in led */
  async signIn(service: string, returnTo = '/runs'): Promise<string> {
    return this.complete(await this.untilCallback(service, returnTo));
  }

  /** Requests the callback. @returns the page of the console to which it led */
  async complete(callback: URL): Promise<string> {
    const response = await this.request(callback);
    return response.headers.get('location') ?? `status ${response.status}`;
  }

  /** Headers that the console sends in this browser. */
  headersFor(service: string): Record<string, string> {
    const jar = this.jars.get(new URL(service).origin) ?? new Map<string, string>();
    return { ...OF_CONSOLE, cookie: [...jar].map((pair) => pair.join('=')).join('; ') };
  }
}
