import { BlockList, isIP } from 'node:net';
import { isLoopbackHost } from '#libs/service';

/** What an AddressGuard lets through beside public addresses. */
export interface AddressPolicy {
  /** Host names, IP addresses or CIDR ranges (`OUTBOUND_ALLOW`). */
  allow: readonly string[];
  /** Whether this machine may be called: true where whoever asks for a call is on this machine as well. */
  loopback: boolean;
}

/**
 * Decides by IP address, never by name alone, where outbound calls may go: every address that is not public unicast
 * (private, loopback, link-local with the clouds' metadata services, carrier-grade NAT, multicast, unspecified,
 * documentation and the IPv6 forms that carry one of these) is refused unless the operator allowed it.
 */
export class AddressGuard {
  private readonly hosts = new Set<string>();
  private readonly ranges = new BlockList();
  private readonly origins = new Set<string>();

  constructor(private readonly policy: AddressPolicy) {
    for (const entry of policy.allow) {
      const [address = '', prefix] = entry.split('/');
      const family = isIP(address);
      if (family === 0) this.hosts.add(entry.toLowerCase());
      else this.ranges.addSubnet(address, Number(prefix ?? (family === 4 ? 32 : 128)), family === 4 ? 'ipv4' : 'ipv6');
    }
  }

  /** Lets calls to one host and port through, whatever its address: an address that the operator configured. */
  allowOrigin(url: string): void {
    const { hostname, port, protocol } = new URL(url);
    this.origins.add(originKey(bareHost(hostname), Number(port || defaultPort(protocol))));
  }

  /** Whether a connection for `host:port` may go to `address`, one of the addresses that the host resolves to. */
  permits(host: string, port: number, address: string): boolean {
    const name = bareHost(host);
    if (this.hosts.has(name) || this.origins.has(originKey(name, port))) return true;
    const plain = embeddedIPv4(address) ?? address;
    const family = isIP(plain) === 4 ? 'ipv4' : 'ipv6';
    if (isIP(plain) === 0) return false;
    if (this.ranges.check(plain, family)) return true;
    if (isLoopbackHost(plain)) return this.policy.loopback;
    return !NOT_PUBLIC.check(plain, family) && (family === 'ipv4' || GLOBAL_IPV6.check(plain, family));
  }
}

/** The host of a URL without IPv6 brackets, in lower case, without the root dot. */
export function bareHost(host: string): string {
  return host
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
}

/** The port of a URL that names none. */
export function defaultPort(protocol: string): string {
  return protocol === 'https:' ? '443' : '80';
}

function originKey(host: string, port: number): string {
  return `${host}|${port}`;
}

/** RFC 6890 and its successors: what must not be reached from outside, plus multicast and reserved space. */
const NOT_PUBLIC = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const) {
  NOT_PUBLIC.addSubnet(network, prefix, 'ipv4');
}
for (const [network, prefix] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['3fff::', 20],
] as const) {
  NOT_PUBLIC.addSubnet(network, prefix, 'ipv6');
}

/** The only IPv6 space that is given out for use on the internet. */
const GLOBAL_IPV6 = new BlockList();
GLOBAL_IPV6.addSubnet('2000::', 3, 'ipv6');

/** The IPv4 address inside an IPv4-mapped, IPv4-compatible, NAT64 or 6to4 address: it is where the packets end up. */
function embeddedIPv4(address: string): string | undefined {
  if (isIP(address) !== 6) return undefined;
  const words = ipv6Words(address);
  if (words === undefined) return undefined;
  const head = words.slice(0, 6).join(':');
  const mapped = head === '0:0:0:0:0:65535' || head === '100:65435:0:0:0:0';
  const compatible = head === '0:0:0:0:0:0' && (words[6] !== 0 || words[7]! > 1);
  if (mapped || compatible) return dotted(words[6]!, words[7]!);
  return words[0] === 0x2002 ? dotted(words[1]!, words[2]!) : undefined;
}

function dotted(high: number, low: number): string {
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}

/** The eight 16-bit words; the URL parser writes every form of an IPv6 address in one canonical form. */
function ipv6Words(address: string): number[] | undefined {
  const zoneless = address.split('%')[0]!;
  if (!URL.canParse(`http://[${zoneless}]/`)) return undefined;
  const [head = '', tail] = new URL(`http://[${zoneless}]/`).hostname.slice(1, -1).split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const filler = Array<string>(8 - left.length - right.length).fill('0');
  return [...left, ...filler, ...right].map((word) => Number.parseInt(word, 16));
}
