import { isIP } from 'node:net';
import { textBefore } from '#libs/protocol';
import { isLoopbackHost } from '#libs/service';
import { LRUCache } from 'lru-cache';
import { type HostName, readHost } from './host-name.js';

/** Local end of a connection, as in `net.Socket`. */
export interface ReachedSocket {
  readonly localAddress?: string | undefined;
}

/**
 * Hosts by which a service may be called. DNS rebinding uses the attacker's host name, which is not among them.
 * Loopback names and addresses are always served, since no attacker can own them; so is the local address of the
 * connection.
 */
export class ServedHosts {
  private readonly all: boolean;
  private readonly names: HostName[] = [];
  /** Endings of subdomains, including the dot. */
  private readonly endings: HostName[] = [];
  /** Cached answers. A client that invents hosts only causes its own lookups. */
  private readonly answers = new LRUCache<string, boolean>({ max: 256 });

  /** @param entries `host`, `host:port`, `*.host`, `*.host:port`, or `*` for all; IPv6 addresses in brackets */
  constructor(entries: readonly string[]) {
    this.all = entries.includes('*');
    for (const entry of entries) this.add(entry);
  }

  /** True if a host is served. @param host value of the Host header; `undefined` without one */
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
      this.names.some((it) => name === it.name && takesPort(it.port, port)) ||
      this.endings.some((it) => name.endsWith(it.name) && takesPort(it.port, port))
    );
  }
}

/**
 * True if an entry's port matches. An entry without a port matches any. Clients omit the default port of their scheme.
 */
function takesPort(listed: string, port: string): boolean {
  return listed === '' || listed === port || (port === '' && (listed === '80' || listed === '443'));
}

function isAddressOf(host: string, { localAddress }: ReachedSocket): boolean {
  const name = readHost(host)?.name;
  if (name === undefined || isIP(name) === 0) return false;
  return name === textBefore(localAddress?.toLowerCase() ?? '', '%').replace(/^::ffff:(?=[\d.]+$)/, '');
}
