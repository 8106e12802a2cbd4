import { Injectable } from '@nestjs/common';
import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { OutboundHttp } from '#libs/http-client';
import { textBefore, withoutTrailing } from '#libs/protocol';
import { AppConfig, isLoopbackHost } from '#libs/service';

/** Parts of a request that determine its base URL; an `http.IncomingMessage` (Fastify: `request.raw`) has them. */
export interface IncomingRequest {
  headers: IncomingHttpHeaders;
  socket: { remoteAddress?: string; encrypted?: boolean };
}

/** Proxies that the operator trusts (`TRUSTED_PROXIES`): the headers in which they report a request are believed. */
export class TrustedProxies {
  private readonly ranges = new BlockList();
  private readonly any: boolean;

  constructor(entries: readonly string[]) {
    this.any = entries.length > 0;
    for (const entry of entries) {
      const [address = '', prefix] = entry.split('/');
      const v4 = isIP(address) === 4;
      this.ranges.addSubnet(address, Number(prefix ?? (v4 ? 32 : 128)), v4 ? 'ipv4' : 'ipv6');
    }
  }

  includes(remoteAddress: string | undefined): boolean {
    if (!this.any || remoteAddress === undefined) return false;
    const plain = textBefore(remoteAddress, '%').replace(/^::ffff:(?=[\d.]+$)/i, '');
    return isIP(plain) !== 0 && this.ranges.check(plain, isIP(plain) === 4 ? 'ipv4' : 'ipv6');
  }
}

/** Headers in which a proxy reports the request that it received. */
const FORWARDED_HEADERS = ['X-Forwarded-For', 'X-Forwarded-Proto', 'X-Forwarded-Host', 'X-Forwarded-Prefix'];

/**
 * Returns the base URL, without a trailing slash, under which the caller reached the service.
 * - If the request comes from a trusted proxy, X-Forwarded-Proto, -Host and -Prefix count; otherwise the Host header.
 * - Several trusted proxies may stand one behind the other; X-Forwarded-For shows how many. Each appends one entry to
 *   each header, so only that many entries at the end of a header are believed.
 * - Scheme and host are those that the outermost trusted proxy saw. The prefixes that the proxies removed are joined.
 * @returns `undefined` if the headers name no valid host
 */
export function requestedBaseUrl(request: IncomingRequest, proxies: TrustedProxies): string | undefined {
  const { headers, socket } = request;
  const hops = trustedHops(request, proxies);
  const plain = hops === 0 && !socket.encrypted;
  if (plain && headers.host === lastPlain.host) return lastPlain.url;
  const forwardedValues = (name: string): string[] => trustedEntries(headers, name, hops);
  const host = forwardedValues('host')[0] ?? headers.host;
  if (host === undefined || !HOST.test(host)) return undefined;
  const proto = forwardedValues('proto')[0]?.toLowerCase();
  const scheme = proto === 'https' || proto === 'http' ? proto : socket.encrypted ? 'https' : 'http';
  const prefixes = forwardedValues('prefix').filter((it) => it !== '/');
  const prefix = prefixes.every((it) => PREFIX.test(it)) ? prefixes.map((it) => withoutTrailing(it, '/')).join('') : '';
  const url = `${scheme}://${host}${prefix}`;
  // Text of the right form can still be no valid host, such as a port beyond 65535.
  if (url !== lastParsed && !URL.canParse(url)) return undefined;
  lastParsed = url;
  if (plain) lastPlain = { host, url };
  return url;
}

/** Last URL that could be parsed. Nearly all callers use the same URL, which then need not be parsed again. */
let lastParsed: string | undefined;
/** Last Host header of a request without TLS or a proxy, and its base URL, which the header alone determines. */
let lastPlain: { host?: string; url?: string } = {};

/**
 * Returns the host that the outermost trusted proxy reports in `X-Forwarded-Host`; `undefined` if there is none. The
 * host may be invalid.
 */
export function forwardedHost(request: IncomingRequest, proxies: TrustedProxies): string | undefined {
  if (request.headers['x-forwarded-host'] === undefined) return undefined;
  return trustedEntries(request.headers, 'host', trustedHops(request, proxies))[0];
}

const HOST = /^([a-z0-9._-]{1,253}|\[[0-9a-f:.]{2,45}\])(:\d{1,5})?$/i;
const PREFIX = /^(\/(?!\.{1,2}(\/|$))[a-z0-9._~-]+)+\/?$/i;

/**
 * Returns the entries that the trusted proxies appended to one of the forwarding headers, outermost proxy first.
 * @param hops number of trusted proxies
 */
function trustedEntries(headers: IncomingHttpHeaders, name: string, hops: number): string[] {
  return hops === 0 ? [] : splitEntries(headers[`x-forwarded-${name}`]).slice(-hops);
}

/**
 * Returns the number of trusted proxies through which a request came, one behind the other, beginning with the
 * connected peer.
 */
function trustedHops({ headers, socket }: IncomingRequest, proxies: TrustedProxies): number {
  if (!proxies.includes(socket.remoteAddress)) return 0;
  const before = splitEntries(headers['x-forwarded-for']).toReversed();
  const stranger = before.findIndex((address) => !proxies.includes(bareAddress(address)));
  return 1 + (stranger < 0 ? before.length : stranger);
}

/** Removes the port that some proxies add to an address. */
function bareAddress(entry: string): string {
  return /^\[(.+)\](:\d+)?$/.exec(entry)?.[1] ?? /^([\d.]+):\d+$/.exec(entry)?.[1] ?? entry;
}

function splitEntries(value: string | string[] | undefined): string[] {
  if (value === undefined) return [];
  return [value]
    .flat()
    .flatMap((it) => it.split(',').map((entry) => entry.trim()))
    .filter((it) => it !== '');
}

/**
 * Addresses of this service.
 *
 * - `internalUrl`: where the service calls itself.
 * - `publicBaseUrl`: where callers reach the service.
 * - `ownUrls`, `ownPath` and `isOwnAddress`: recognize URLs of the service.
 */
@Injectable()
export class ServiceAddress {
  private readonly proxies: TrustedProxies;
  private bound: string | undefined;
  private grpcPort: number | undefined;

  constructor(
    private readonly config: AppConfig,
    private readonly outbound: OutboundHttp,
  ) {
    this.proxies = new TrustedProxies(config.trustedProxies);
  }

  /** Sets the address of the HTTP server, for example `http://127.0.0.1:3000`. Call it once the server listens. */
  setBoundUrl(url: string): void {
    const { protocol, port } = new URL(url);
    const host = reachableHost(new URL(url).hostname);
    this.bound = port ? `${protocol}//${host}:${port}` : `${protocol}//${host}`;
    this.outbound.allowSelf(this.bound);
  }

  /** Sets the port of the gRPC binding. Call it once the binding listens. */
  grpcListening(port: number): void {
    this.grpcPort = port;
  }

  /**
   * Returns the target where callers reach gRPC: `GRPC_PUBLIC_URL`, else `host:port` of a base URL; `undefined` while
   * gRPC is off, or cards do not name it.
   */
  publicGrpcTarget(baseUrl: string): string | undefined {
    const { grpcPublicUrl } = this.config;
    if (this.grpcPort === undefined || grpcPublicUrl === 'none') return undefined;
    return grpcPublicUrl ?? `${new URL(baseUrl).hostname}:${this.grpcPort}`;
  }

  /** URL where the service calls itself (`INTERNAL_URL`, else loopback on the bound port), without a trailing slash. */
  get internalUrl(): string {
    return this.config.internalUrl ?? this.bound ?? `http://127.0.0.1:${this.config.port}`;
  }

  /** Base URLs of this service that its configuration names, whatever host a request has, without a trailing slash. */
  get ownUrls(): string[] {
    const { publicUrl } = this.config;
    return publicUrl === undefined ? [this.internalUrl] : [this.internalUrl, publicUrl];
  }

  /** Names of the request headers, besides Host, on which the base URL depends. */
  get variesBy(): readonly string[] {
    return this.config.publicUrl === undefined && this.config.trustedProxies.length > 0 ? FORWARDED_HEADERS : [];
  }

  /**
   * True if a base URL is known to be this service's, not just claimed by a request: `PUBLIC_URL`, `INTERNAL_URL`, or
   * the bound loopback address under any loopback name.
   */
  isOwnAddress(baseUrl: string): boolean {
    if (baseUrl === this.config.publicUrl || baseUrl === this.config.internalUrl) return true;
    if (this.bound === undefined || !isLoopbackHost(this.config.host)) return false;
    const { origin, protocol, port, hostname } = new URL(baseUrl);
    const bound = new URL(this.bound);
    return origin === baseUrl && protocol === bound.protocol && port === bound.port && isLoopbackHost(hostname);
  }

  /**
   * Returns the path below `/a2a` of the agent at a URL of this service, as `URL.href` writes it; `undefined` for any
   * other URL.
   */
  ownPath(url: string): string | undefined {
    const [, base = '', path = ''] = BELOW_A2A.exec(url) ?? [];
    return base !== '' && (this.ownUrls.includes(base) || this.isOwnAddress(base)) ? path : undefined;
  }

  /** Returns the host name that callers used to reach the outermost trusted proxy; `undefined` without such a proxy. */
  forwardedHost(request: IncomingRequest): string | undefined {
    return forwardedHost(request, this.proxies);
  }

  /**
   * Returns the base URL to report to a caller, without a trailing slash: `PUBLIC_URL`, else the base URL of the
   * request, else the internal URL.
   */
  publicBaseUrl(request?: IncomingRequest): string {
    return this.config.publicUrl ?? (request && requestedBaseUrl(request, this.proxies)) ?? this.internalUrl;
  }
}

const BELOW_A2A = /^(https?:\/\/[^/]+(?:\/.*?)?)\/a2a(?:\/(.*))?$/;

/**
 * Returns the host to call for a host that the server listens on: if it listens on all addresses, the loopback
 * address.
 */
function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '[::]' ? '[::1]' : host;
}
