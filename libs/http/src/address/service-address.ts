import { Injectable } from '@nestjs/common';
import { OutboundHttp } from '#libs/outbound';
import { AppConfig, isLoopbackHost } from '#libs/service';
import {
  FORWARDED_HEADERS,
  forwardedHost,
  type IncomingRequest,
  requestedBaseUrl,
  TrustedProxies,
} from './forwarded.js';

/** Addresses of this service, as seen by itself and by others. */
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
   * gRPC is off.
   */
  publicGrpcTarget(baseUrl: string): string | undefined {
    if (this.grpcPort === undefined) return undefined;
    return this.config.grpcPublicUrl ?? `${new URL(baseUrl).hostname}:${this.grpcPort}`;
  }

  /** URL where the service calls itself (`INTERNAL_URL`, else loopback on the bound port), without a trailing slash. */
  get internalUrl(): string {
    return this.config.internalUrl ?? this.bound ?? `http://127.0.0.1:${this.config.port}`;
  }

  /** Base URLs of this service by its configuration, independent of requests, without a trailing slash. */
  get ownUrls(): string[] {
    const { publicUrl } = this.config;
    return publicUrl === undefined ? [this.internalUrl] : [this.internalUrl, publicUrl];
  }

  /** Request headers beside Host that affect the base URL. */
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

  /** Returns the host by which a trusted proxy was called; `undefined` if there is none. */
  forwardedHost(request: IncomingRequest): string | undefined {
    return forwardedHost(request, this.proxies);
  }

  /**
   * Returns the base URL to report to a caller: `PUBLIC_URL`, else the one of the request, without a trailing slash.
   */
  publicBaseUrl(request?: IncomingRequest): string {
    return this.config.publicUrl ?? (request && requestedBaseUrl(request, this.proxies)) ?? this.internalUrl;
  }
}

const BELOW_A2A = /^(https?:\/\/[^/]+(?:\/.*?)?)\/a2a(?:\/(.*))?$/;

/** Returns the host to call: a server that listens on all addresses is reached on loopback. */
function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '[::]' ? '[::1]' : host;
}
