import { Injectable, Logger } from '@nestjs/common';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { ServiceAddress } from '#libs/http-server';
import { type A2AError, textBefore } from '#libs/protocol';
import { AppConfig, isLoopbackHost } from '#libs/service';
import { foreignPage, hostMissing, hostNotServed } from './access-errors.js';
import { routeAccess } from './route-access.js';

/** Host in a request, a URL or the configuration. */
interface HostName {
  /** Name in lower case, without brackets and without a trailing dot. */
  name: string;
  /** Port; `''` if there is none. */
  port: string;
}

/** Parses `name`, `name:port`, `192.0.2.1:port` or `[2001:db8::1]:port`; returns `undefined` for other text. */
export function readHost(text: string): HostName | undefined {
  const [, plain, address, port = ''] = HOST.exec(text) ?? [];
  const name = (plain?.replace(/\.$/, '') ?? address ?? '').toLowerCase();
  return name === '' || name.endsWith('.') ? undefined : { name, port };
}

const HOST = /^(?:([a-z0-9._-]{1,253})|\[([0-9a-f:.]{2,45})\])(?::(\d{1,5}))?$/i;

/** Web pages that may call this service: its own pages, known by its hosts, and the pages that the operator lists. */
export interface CallingPages {
  /** Hosts of the service, with their ports, as the browser sees them. */
  own: readonly (string | undefined)[];
  /** Origins such as `https://app.example.com`; `*` matches all. */
  listed: ReadonlySet<string>;
}

/**
 * True if a page of another origin caused the request. A browser reports the page in two headers:
 *
 * - `Origin`, for all methods but GET, and for every response that a script may read
 * - `Sec-Fetch-Site`, if this service is reached over HTTPS or at a loopback address
 *
 * A request with neither header comes from no browser, or the page cannot read its response.
 */
export function isForeignPage(headers: IncomingHttpHeaders, { own, listed }: CallingPages): boolean {
  const { origin } = headers;
  if (origin !== undefined) {
    if (listed.has(origin) || listed.has('*')) return false;
    if (!own.some((host) => host !== undefined && isOriginOf(origin, host))) return true;
  }
  const site = headers['sec-fetch-site'];
  return site !== undefined && site !== 'same-origin' && site !== 'none';
}

/**
 * True if an origin has this host. The schemes are not compared: behind a proxy that terminates TLS the browser uses
 * `https`, and this service sees `http`. A page that really has another scheme is recognized by `Sec-Fetch-Site`.
 */
function isOriginOf(origin: string, host: string): boolean {
  const [, scheme, named] = ORIGIN.exec(origin) ?? [];
  if (named === undefined) return false;
  const standard = scheme === 'https' ? ':443' : ':80';
  return withoutEnding(named, standard) === withoutEnding(host.toLowerCase(), standard);
}

/** Pattern of an origin as browsers write it. The origin `null` (of a page without one) does not match. */
const ORIGIN = /^(https?):\/\/([^/\s@?#]+)$/;

function withoutEnding(text: string, ending: string): string {
  return text.endsWith(ending) ? text.slice(0, -ending.length) : text;
}

/** Local end of a connection: the address and port that the client has reached, as in `net.Socket`. */
export interface ReachedSocket {
  readonly localAddress?: string | undefined;
}

/**
 * Host names by which the service may be called. Requests for other hosts are refused, as a protection from DNS
 * rebinding, in which an attacker's host name resolves to this service. Loopback names and addresses, which no attacker
 * can own, and the local address of the connection are always served.
 */
export class ServedHosts {
  private readonly all: boolean;
  private readonly names: HostName[] = [];
  /** Endings of host names, from entries such as `*.host`, including the first dot. */
  private readonly endings: HostName[] = [];
  /**
   * Cached results of `isKnownHost` by host. A client that invents hosts replaces the cached results, which only
   * costs time.
   */
  private readonly answers = new LRUCache<string, boolean>({ max: 256 });

  /** @param entries `host`, `host:port`, `*.host`, `*.host:port`, or `*` for all; IPv6 addresses in brackets */
  constructor(entries: readonly string[]) {
    this.all = entries.includes('*');
    for (const entry of entries) this.add(entry);
  }

  /**
   * True if requests to a host are served.
   * @param host value of the Host header; `undefined` if the request has no Host header
   * @param reached local end of the connection, whose address is served, too
   */
  servesHost(host: string | undefined, reached: ReachedSocket): boolean {
    if (this.all) return true;
    if (host === undefined) return false;
    return (this.answers.get(host) ?? this.judgeHost(host)) || isAddressOf(host, reached);
  }

  private add(entry: string): void {
    const below = entry.startsWith('*.');
    const host = readHost(below ? entry.slice(2) : entry);
    if (!host) return;
    if (below) this.endings.push({ name: `.${host.name}`, port: host.port });
    else this.names.push(host);
  }

  private judgeHost(host: string): boolean {
    const answer = this.isKnownHost(host);
    this.answers.set(host, answer);
    return answer;
  }

  private isKnownHost(text: string): boolean {
    const host = readHost(text);
    if (!host) return false;
    if (isLoopbackHost(host.name)) return true;
    const { name, port } = host;
    return (
      this.names.some((it) => name === it.name && matchesPort(it.port, port)) ||
      this.endings.some((it) => name.endsWith(it.name) && matchesPort(it.port, port))
    );
  }
}

/**
 * True if the port of an entry of the configuration matches the port of a request. An entry without a port matches any
 * port.
 * @param port port of the request; `''` if the client omitted it, as clients do with the default port of their scheme
 */
function matchesPort(listed: string, port: string): boolean {
  return listed === '' || listed === port || (port === '' && (listed === '80' || listed === '443'));
}

function isAddressOf(host: string, { localAddress }: ReachedSocket): boolean {
  const name = readHost(host)?.name;
  if (name === undefined || isIP(name) === 0) return false;
  return name === textBefore(localAddress?.toLowerCase() ?? '', '%').replace(/^::ffff:(?=[\d.]+$)/, '');
}

const logger = new Logger('BrowserGuard');

/** Paths of health probes, which are served at any host: they reveal only the state of the service. */
const HEALTH = /^\/health\//;

/**
 * Protects the service from foreign web pages in the browser of a user who can reach the service (ADR 20). Requests
 * that come from no browser pass if they name a served host.
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

  /**
   * True if the request needs no further check: nothing indicates a browser or a proxy, and its host is served. For
   * most clients this is the only check.
   */
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
   * Returns the error for a request that is refused: 421 for a host that is not served, 403 for a foreign page;
   * `undefined` if the request may pass.
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
      logger.warn(
        { host: shown },
        'A request names a host that is not served; add it to ALLOWED_HOSTS if it should be',
      );
    this.reported = true;
    return hostNotServed(shown);
  }
}

const SLASH = 47;

/**
 * Returns the host in a request target in absolute form (RFC 9112, section 3.2.2), which overrides the Host header;
 * an empty list for any other target.
 */
function targetHost(target = ''): (string | undefined)[] {
  if (target.charCodeAt(0) === SLASH || target === '*') return [];
  return [/^https?:\/\/([^/?#]*)/i.exec(target)?.[1]];
}

/**
 * Removes the port from a host. The hosts of the configuration are served on every port: an attacker's page cannot
 * listen on a port of such a host.
 */
function withoutPort(host: string): string {
  return host.replace(/:\d+$/, '');
}

function withBrackets(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

/** Routes that need the check of foreign pages even for GET: this service calls remote servers for them. */
const FETCHING = /^\/api\/agent-card$/;

/**
 * Refuses requests that foreign pages cause in a browser. Call this function before `guardRoutes`, so that its hook
 * runs before credentials are verified and before any body is read.
 *
 * - Refusals are A2AErrors, which `/api` and each binding of A2A write in their own formats.
 * - Requests without a Host header are refused here, too: Node itself would close the connection at once, and a
 *   caller that is still sending would lose the response.
 */
export function guardBrowsers(fastify: FastifyInstance, guard: BrowserGuard): void {
  fastify.addHook('onRequest', (request, _reply, done) => {
    if (lacksHost(request.raw)) return done(hostMissing());
    if (guard.clearsRequest(request.raw)) return done();
    done(guard.findRefusal(request.raw, request.routeOptions.url));
  });
  fastify.addHook('onRoute', (route) => {
    if (FETCHING.test(route.url)) route.onRequest = [route.onRequest ?? [], refuseUnmarked].flat();
  });
}

function lacksHost({ headers, httpVersion }: IncomingMessage): boolean {
  return headers.host === undefined && httpVersion !== '1.0';
}

/**
 * Refuses a browser's request that has none of `Origin`, `Sec-Fetch-Site` and `X-Requested-With`: a foreign page may
 * have caused it. On plain HTTP, except on loopback, browsers do not say which page loads an image. Clients that are no
 * browsers may omit the headers.
 */
function refuseUnmarked({ headers }: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void {
  done(isBrowser(headers) && !isMarked(headers) ? foreignPage() : undefined);
}

/** True if the client identifies itself as a browser by `User-Agent`, which pages cannot change. */
function isBrowser(headers: IncomingHttpHeaders): boolean {
  return headers['user-agent']?.startsWith('Mozilla/') === true;
}

/** True if only a script of this service's own page, or of a page that CORS permits, can have sent the request. */
function isMarked(headers: IncomingHttpHeaders): boolean {
  return ['sec-fetch-site', 'origin', 'x-requested-with'].some((name) => headers[name] !== undefined);
}
