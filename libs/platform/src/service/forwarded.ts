import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIP } from 'node:net';

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
    const plain = remoteAddress.replace(/^::ffff:(?=[\d.]+$)/i, '');
    return isIP(plain) !== 0 && this.ranges.check(plain, isIP(plain) === 4 ? 'ipv4' : 'ipv6');
  }
}

/**
 * The base URL, without a trailing slash, under which the caller reached the service: the Host header, and from a
 * trusted proxy X-Forwarded-Proto, -Host and -Prefix (of a list the last entry, which the proxy itself wrote).
 * `undefined` where the headers name no usable host.
 */
export function requestedBaseUrl(request: IncomingRequest, proxies: TrustedProxies): string | undefined {
  const { headers, socket } = request;
  const forwarded = proxies.includes(socket.remoteAddress)
    ? (name: string) => lastEntry(headers[`x-forwarded-${name}`])
    : () => undefined;
  const host = forwarded('host') ?? headers.host;
  if (host === undefined || !HOST.test(host)) return undefined;
  const proto = forwarded('proto')?.toLowerCase();
  const scheme = proto === 'https' || proto === 'http' ? proto : socket.encrypted ? 'https' : 'http';
  const prefix = forwarded('prefix') ?? '';
  return `${scheme}://${host}${PREFIX.test(prefix) ? prefix.replace(/\/+$/, '') : ''}`;
}

const HOST = /^([a-z0-9._-]{1,253}|\[[0-9a-f:.]{2,45}\])(:\d{1,5})?$/i;
const PREFIX = /^(\/[a-z0-9._~-]+)+\/?$/i;

function lastEntry(value: string | string[] | undefined): string | undefined {
  const text = Array.isArray(value) ? value.at(-1) : value;
  return text?.split(',').at(-1)?.trim() || undefined;
}
