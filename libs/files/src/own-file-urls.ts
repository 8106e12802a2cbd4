import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { ServedHosts } from '#libs/access';
import { ServiceAddress } from '#libs/http-server';
import { AppConfig, isLoopbackHost } from '#libs/service';
import type { FileProof } from './file-addresses.js';
import { FILE_ID } from './stored-file.js';

const FILE_URL = /^(https?:\/\/[^/?#]+(?:\/[^?#]*?)?)\/api\/files\/([\da-f-]{36})$/;
const SIGNED_URL =
  /^(https?:\/\/[^/?#]+(?:\/[^?#]*?)?)\/files\/([\da-f-]{36})\?expires=(\d{1,12})&signature=([\w-]{1,200})$/;
const MOST_BASES = 64;

/** Signed address of a file of this service, whose signature has not been verified yet. */
export interface SignedUrl {
  readonly id: string;
  readonly proof: FileProof;
  /** URL of the file without a signature, for its owner. */
  readonly url: string;
}

/**
 * Recognizes URLs of this service's files: those at `PUBLIC_URL`, at the service's internal address, and at its
 * loopback address. Without `PUBLIC_URL`, callers get URLs with the host of their own requests; so URLs with
 * configured hosts (`ALLOWED_HOSTS`), and with hosts of recent responses of this replica, are recognized as well.
 */
@Injectable()
export class OwnFileUrls implements OnApplicationBootstrap {
  private readonly logger = new Logger(OwnFileUrls.name);
  private readonly listed: ServedHosts;
  private readonly reported = new LRUCache<string, true>({ max: MOST_BASES });

  constructor(
    private readonly service: ServiceAddress,
    private readonly config: AppConfig,
  ) {
    // `*` names no particular host of the service.
    this.listed = new ServedHosts(config.allowedHosts.filter((it) => it !== '*'));
  }

  onApplicationBootstrap(): void {
    if (this.config.publicUrl !== undefined || isLoopbackHost(this.config.host)) return;
    this.logger.warn(
      'PUBLIC_URL is not set: remote agents receive file URLs at INTERNAL_URL or loopback, which they may not reach',
    );
  }

  /** Records a base URL of this service that a caller got in a response, made from the host of its request. */
  noteBaseUrl(baseUrl: string): void {
    if (this.config.publicUrl === undefined) this.reported.set(baseUrl, true);
  }

  /** Returns the id in the URL of a file of this service; `undefined` for any other URL. */
  idOf(url: string): string | undefined {
    const [, base = '', id = ''] = FILE_URL.exec(url) ?? [];
    if (base === '' || !FILE_ID.test(id) || !URL.canParse(base)) return undefined;
    return this.isOwn(base) ? id : undefined;
  }

  /** Parses a signed address of this service; returns `undefined` for any other URL. */
  signedUrl(text: string): SignedUrl | undefined {
    const [, base = '', id = '', expires = '', signature = ''] = SIGNED_URL.exec(text) ?? [];
    const url = `${base}/api/files/${id}`;
    return this.idOf(url) === undefined ? undefined : { id, proof: { expires: Number(expires), signature }, url };
  }

  private isOwn(base: string): boolean {
    if (this.service.ownUrls.includes(base) || this.service.isOwnAddress(base)) return true;
    if (this.config.publicUrl !== undefined) return false;
    const { host, hostname, origin } = new URL(base);
    // Loopback counts as served on every port, but another service may listen there.
    return (
      this.reported.has(base) || (origin === base && !isLoopbackHost(hostname) && this.listed.servesHost(host, {}))
    );
  }
}
