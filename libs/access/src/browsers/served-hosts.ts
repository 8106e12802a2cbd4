import { isIP } from 'node:net';
import { textBefore } from '#libs/protocol';
import { isLoopbackHost } from '#libs/service';
import { LRUCache } from 'lru-cache';
import { type HostName, readHost } from './host-name.js';

/** The end of a connection that is ours, as `net.Socket` tells it. */
export interface Reached {
  readonly localAddress?: string | undefined;
}

/**
 * The hosts by which a service may be called. A page whose name its owner leads to this machine (DNS rebinding) calls by
 * its own name, which is none of them. Loopback names and addresses always are: nobody else can own them. So is the
 * address that a connection was made to.
 */
export class ServedHosts {
  private readonly all: boolean;
  private readonly names: HostName[] = [];
  /** Of names below one: with the dot. */
  private readonly endings: HostName[] = [];
  /** A client that invents more hosts costs itself a new look each time. */
  private readonly answers = new LRUCache<string, boolean>({ max: 256 });

  /** @param entries `host`, `host:port`, `*.host`, `*.host:port`, or `*` for all; IPv6 addresses in brackets */
  constructor(entries: readonly string[]) {
    this.all = entries.includes('*');
    for (const entry of entries) this.add(entry);
  }

  /** @param host as the Host header says it; `undefined` where there is none */
  serves(host: string | undefined, reached: Reached): boolean {
    if (this.all) return true;
    if (host === undefined) return false;
    return (this.answers.get(host) ?? this.judge(host)) || isAddressOf(host, reached);
  }

  private add(entry: string): void {
    const below = entry.startsWith('*.');
    const host = readHost(below ? entry.slice(2) : entry);
    if (!host) return;
    if (below) this.endings.push({ name: `.${host.name}`, port: host.port });
    else this.names.push(host);
  }

  private judge(host: string): boolean {
    const answer = this.knows(host);
    this.answers.set(host, answer);
    return answer;
  }

  private knows(text: string): boolean {
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

/** An entry without a port takes any. Clients leave out the port that is their scheme's own. */
function takesPort(listed: string, port: string): boolean {
  return listed === '' || listed === port || (port === '' && (listed === '80' || listed === '443'));
}

function isAddressOf(host: string, { localAddress }: Reached): boolean {
  const name = readHost(host)?.name;
  if (name === undefined || isIP(name) === 0) return false;
  return name === textBefore(localAddress?.toLowerCase() ?? '', '%').replace(/^::ffff:(?=[\d.]+$)/, '');
}
