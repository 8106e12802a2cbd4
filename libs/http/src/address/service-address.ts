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

/** Where this service is found: by itself and by others. */
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

  /** To be called once the server listens, with its address, for example `http://127.0.0.1:3000`. */
  listening(url: string): void {
    const { protocol, port } = new URL(url);
    const host = reachableHost(new URL(url).hostname);
    this.bound = port ? `${protocol}//${host}:${port}` : `${protocol}//${host}`;
    this.outbound.allowSelf(this.bound);
  }

  /** To be called once the gRPC binding listens. */
  grpcListening(port: number): void {
    this.grpcPort = port;
  }

  /** Where a caller reaches gRPC: `GRPC_PUBLIC_URL`, else `host:port` of a base URL; `undefined` while it is off. */
  publicGrpcTarget(baseUrl: string): string | undefined {
    if (this.grpcPort === undefined) return undefined;
    return this.config.grpcPublicUrl ?? `${new URL(baseUrl).hostname}:${this.grpcPort}`;
  }

  /** Where the service calls itself (`INTERNAL_URL`, else loopback on the bound port), without a trailing slash. */
  get internalUrl(): string {
    return this.config.internalUrl ?? this.bound ?? `http://127.0.0.1:${this.config.port}`;
  }

  /** The base URLs that are this service's by its configuration, whatever a request says; no slash at the end. */
  get ownUrls(): string[] {
    const { publicUrl } = this.config;
    return publicUrl === undefined ? [this.internalUrl] : [this.internalUrl, publicUrl];
  }

  /** The headers of a request that decide about its base URL, beside Host. */
  get variesBy(): readonly string[] {
    return this.config.publicUrl === undefined && this.config.trustedProxies.length > 0 ? FORWARDED_HEADERS : [];
  }

  /**
   * Whether a base URL is known to be this service's, and not just what a request said: `PUBLIC_URL`, where the service
   * calls itself, or the loopback address that it listens on, under any name.
   */
  isOwnAddress(baseUrl: string): boolean {
    if (baseUrl === this.config.publicUrl || baseUrl === this.config.internalUrl) return true;
    if (this.bound === undefined || !isLoopbackHost(this.config.host)) return false;
    const { origin, protocol, port, hostname } = new URL(baseUrl);
    const bound = new URL(this.bound);
    return origin === baseUrl && protocol === bound.protocol && port === bound.port && isLoopbackHost(hostname);
  }

  /** The path below `/a2a` of the agent at a URL of this service, as `URL.href` writes it; `undefined` at any other. */
  ownPath(url: string): string | undefined {
    const [, base = '', path = ''] = BELOW_A2A.exec(url) ?? [];
    return base !== '' && (this.ownUrls.includes(base) || this.isOwnAddress(base)) ? path : undefined;
  }

  /** The host by which a trusted proxy was called; `undefined` where there is none, or it does not say. */
  forwardedHost(request: IncomingRequest): string | undefined {
    return forwardedHost(request, this.proxies);
  }

  /** The base URL to tell a caller: `PUBLIC_URL`, else what the request says, without a trailing slash. */
  publicBaseUrl(request?: IncomingRequest): string {
    return this.config.publicUrl ?? (request && requestedBaseUrl(request, this.proxies)) ?? this.internalUrl;
  }
}

const BELOW_A2A = /^(https?:\/\/[^/]+(?:\/.*?)?)\/a2a(?:\/(.*))?$/;

/** A server that listens on every address is reached on loopback. */
function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '[::]' ? '[::1]' : host;
}
