import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { textBefore, withoutTrailing } from '#libs/protocol';

/** Parts of a request that determine its address; an `http.IncomingMessage` (Fastify: `request.raw`) has them. */
export interface IncomingRequest {
  headers: IncomingHttpHeaders;
  socket: { remoteAddress?: string; encrypted?: boolean };
}

/** Set of trusted proxies, whose forwarding headers are believed. */
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

/** Headers in which a proxy reports how it was called. */
export const FORWARDED_HEADERS = ['X-Forwarded-For', 'X-Forwarded-Proto', 'X-Forwarded-Host', 'X-Forwarded-Prefix'];

/**
 * Returns the base URL, without a trailing slash, under which the caller reached the service.
 *
 * - Without a trusted proxy the Host header counts; with one, X-Forwarded-Proto, -Host and -Prefix.
 * - X-Forwarded-For tells how many proxies in a row are trusted. Each appends one entry to each header, so as many
 *   entries are read from the end of a list; earlier ones are untrusted.
 * - Scheme and host are those that the outermost trusted proxy saw; the prefixes that the proxies removed are joined.
 *
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

/** Last URL that was parsed: nearly all callers use the same one. */
let lastParsed: string | undefined;
/** Last Host header without TLS or a proxy, and its URL: the header alone determines it. */
let lastPlain: { host?: string; url?: string } = {};

/** Returns the host that the outermost trusted proxy reports; `undefined` if there is none. It may be no valid host. */
export function forwardedHost(request: IncomingRequest, proxies: TrustedProxies): string | undefined {
  if (request.headers['x-forwarded-host'] === undefined) return undefined;
  return trustedEntries(request.headers, 'host', trustedHops(request, proxies))[0];
}

const HOST = /^([a-z0-9._-]{1,253}|\[[0-9a-f:.]{2,45}\])(:\d{1,5})?$/i;
const PREFIX = /^(\/(?!\.{1,2}(\/|$))[a-z0-9._~-]+)+\/?$/i;

/** Returns the values that the trusted proxies added to one of their headers, outermost first. */
function trustedEntries(headers: IncomingHttpHeaders, name: string, hops: number): string[] {
  return hops === 0 ? [] : splitEntries(headers[`x-forwarded-${name}`]).slice(-hops);
}

/** Returns the number of consecutive trusted proxies, from the connected peer outward. */
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
