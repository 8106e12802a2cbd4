import type { IncomingMessage } from 'node:http';
import { Injectable, Logger } from '@nestjs/common';
import { ServiceAddress } from '#libs/http';
import type { A2AError } from '#libs/protocol';
import { AppConfig } from '#libs/service';
import { foreignPage, hostNotServed } from '../access-errors.js';
import { routeAccess } from '../route-access.js';
import { readHost } from './host-name.js';
import { isForeignPage } from './page-origin.js';
import { ServedHosts } from './served-hosts.js';

const logger = new Logger('BrowserGuard');

/** Health probes use any address, and learn only the state of the service. */
const HEALTH = /^\/health\//;

/**
 * Protects the service from foreign web pages in the browser of a user who can reach it (ADR 20). Requests that come
 * from no browser pass if they name a served host.
 */
@Injectable()
export class BrowserGuard {
  private readonly hosts: ServedHosts;
  private readonly ownHosts: readonly string[];
  private readonly listed: ReadonlySet<string>;
  private reported = false;

  constructor(
    config: Pick<AppConfig, 'auth' | 'allowedHosts' | 'corsOrigins' | 'publicUrl' | 'internalUrl' | 'host'>,
    private readonly address: Pick<ServiceAddress, 'forwardedHost'>,
  ) {
    const urls = [config.publicUrl, config.internalUrl].filter((url) => url !== undefined);
    this.ownHosts = urls.map((url) => new URL(url).host);
    // If callers must authenticate, a page under a foreign host name has no credentials.
    const checked = config.auth.mode === 'none' || config.allowedHosts.length > 0;
    const named = [withBrackets(config.host), ...this.ownHosts.map(withoutPort), ...config.allowedHosts];
    this.hosts = new ServedHosts(checked ? named : ['*']);
    this.listed = new Set(config.corsOrigins);
  }

  /** True if nothing indicates a browser or a proxy: the fast path of most clients. */
  clearsRequest({ headers, url, socket }: IncomingMessage): boolean {
    return (
      headers.origin === undefined &&
      headers['sec-fetch-site'] === undefined &&
      headers['x-forwarded-host'] === undefined &&
      url?.charCodeAt(0) === SLASH &&
      this.hosts.servesHost(headers.host, socket)
    );
  }

  /**
   * Returns the refusal of a request: 421 for a host that is not served, 403 for a foreign page.
   * @param route the pattern that the router matched; `undefined` without a match
   */
  findRefusal(request: IncomingMessage, route: string | undefined): A2AError | undefined {
    if (route !== undefined && HEALTH.test(route)) return undefined;
    const { headers, socket } = request;
    const isPublic = routeAccess(request.method ?? '', route) === 'public';
    const forwarded = this.address.forwardedHost(request);
    // The forwarded host matters only for routes that are not public.
    const named = [
      ...targetHost(request.url),
      headers.host,
      ...(isPublic || forwarded === undefined ? [] : [forwarded]),
    ];
    const strange = named.findIndex((host) => !this.hosts.servesHost(host, socket));
    if (strange >= 0) return this.notServed(named[strange]);
    const pages = { own: [forwarded ?? headers.host, ...this.ownHosts], listed: this.listed };
    return !isPublic && isForeignPage(headers, pages) ? foreignPage() : undefined;
  }

  private notServed(host: string | undefined): A2AError {
    const shown = host !== undefined && readHost(host) ? host : undefined;
    if (!this.reported)
      logger.warn({ host: shown }, 'A request for a host that is not served here; ALLOWED_HOSTS names more');
    this.reported = true;
    return hostNotServed(shown);
  }
}

const SLASH = 47;

/** Returns the host of a request target in absolute form (RFC 9112, section 3.2.2), which overrides the Host header. */
function targetHost(target = ''): (string | undefined)[] {
  if (target.charCodeAt(0) === SLASH || target === '*') return [];
  return [/^https?:\/\/([^/?#]*)/i.exec(target)?.[1]];
}

/** Removes the port: hosts of URLs are served on every port, since a page cannot take over a port. */
function withoutPort(host: string): string {
  return host.replace(/:\d+$/, '');
}

function withBrackets(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
