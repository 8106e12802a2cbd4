import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { textBefore, withoutTrailing } from '#libs/protocol';

/** What an address is derived from; an `http.IncomingMessage` (Fastify: `request.raw`) is one. */
export interface IncomingRequest {
  headers: IncomingHttpHeaders;
  socket: { remoteAddress?: string; encrypted?: boolean };
}

/** Whether the peer of a connection is one of the proxies whose headers are believed. */
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

/** The headers by which a proxy says how it was called. */
export const FORWARDED_HEADERS = ['X-Forwarded-For', 'X-Forwarded-Proto', 'X-Forwarded-Host', 'X-Forwarded-Prefix'];

/**
 * The base URL, without a trailing slash, under which the caller reached the service: the Host header, and from a
 * trusted proxy X-Forwarded-Proto, -Host and -Prefix. Behind several proxies X-Forwarded-For tells how many of them are
 * trusted; of a list, each of them has written one entry at the end: scheme and host are those that the outermost one
 * saw, and the prefixes that they took off follow one another. What stands before comes from strangers.
 * `undefined` where the headers name no usable host.
 */
export function requestedBaseUrl(request: IncomingRequest, proxies: TrustedProxies): string | undefined {
  const { headers, socket } = request;
  const hops = trustedHops(request, proxies);
  const plain = hops === 0 && !socket.encrypted;
  if (plain && headers.host === lastPlain.host) return lastPlain.url;
  const forwarded = (name: string): string[] => believed(headers, name, hops);
  const host = forwarded('host')[0] ?? headers.host;
  if (host === undefined || !HOST.test(host)) return undefined;
  const proto = forwarded('proto')[0]?.toLowerCase();
  const scheme = proto === 'https' || proto === 'http' ? proto : socket.encrypted ? 'https' : 'http';
  const prefixes = forwarded('prefix').filter((it) => it !== '/');
  const prefix = prefixes.every((it) => PREFIX.test(it)) ? prefixes.map((it) => withoutTrailing(it, '/')).join('') : '';
  const url = `${scheme}://${host}${prefix}`;
  // A port beyond 65535, numbers that are no address: text of the right form can still be no host.
  if (url !== lastParsed && !URL.canParse(url)) return undefined;
  lastParsed = url;
  if (plain) lastPlain = { host, url };
  return url;
}

/** Nearly all callers of a service call it by the same name, */
let lastParsed: string | undefined;
/** and without TLS or a proxy that name is all that decides. */
let lastPlain: { host?: string; url?: string } = {};

/**
 * The host that the outermost trusted proxy says it was called by; `undefined` where none says so. It may be no host at
 * all.
 */
export function forwardedHost(request: IncomingRequest, proxies: TrustedProxies): string | undefined {
  if (request.headers['x-forwarded-host'] === undefined) return undefined;
  return believed(request.headers, 'host', trustedHops(request, proxies))[0];
}

const HOST = /^([a-z0-9._-]{1,253}|\[[0-9a-f:.]{2,45}\])(:\d{1,5})?$/i;
const PREFIX = /^(\/(?!\.{1,2}(\/|$))[a-z0-9._~-]+)+\/?$/i;

/** What the trusted proxies wrote into one of their headers, the outermost first. */
function believed(headers: IncomingHttpHeaders, name: string, hops: number): string[] {
  return hops === 0 ? [] : entries(headers[`x-forwarded-${name}`]).slice(-hops);
}

/** How many proxies in a row, from the one that is connected here outward, are trusted. */
function trustedHops({ headers, socket }: IncomingRequest, proxies: TrustedProxies): number {
  if (!proxies.includes(socket.remoteAddress)) return 0;
  const before = entries(headers['x-forwarded-for']).toReversed();
  const stranger = before.findIndex((address) => !proxies.includes(bareAddress(address)));
  return 1 + (stranger < 0 ? before.length : stranger);
}

/** Some proxies write an address with its port. */
function bareAddress(entry: string): string {
  return /^\[(.+)\](:\d+)?$/.exec(entry)?.[1] ?? /^([\d.]+):\d+$/.exec(entry)?.[1] ?? entry;
}

function entries(value: string | string[] | undefined): string[] {
  if (value === undefined) return [];
  return [value]
    .flat()
    .flatMap((it) => it.split(',').map((entry) => entry.trim()))
    .filter((it) => it !== '');
}
