import { BlockList, isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

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
    const plain = address.split('%', 1).join();
    // The library takes octal numbers, short forms and single numbers for addresses too.
    if (isIP(address) === 0 || !ipaddr.isValid(plain)) return false;
    const reached = destination(ipaddr.parse(plain));
    if (this.ranges.check(reached.toString(), reached.kind())) return true;
    const range = reached.range();
    if (range === 'loopback') return this.policy.loopback;
    return reached.kind() === 'ipv4' ? REACHED_FROM_ANYWHERE.has(range) : range === 'unicast' && reached.match(GLOBAL);
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

type Address = ReturnType<typeof ipaddr.parse>;

/** The ranges of IPv4 that are reached from anywhere. */
const REACHED_FROM_ANYWHERE: ReadonlySet<string> = new Set(['unicast', 'as112', 'amt']);

/** The only IPv6 space that is given out for use on the internet. */
const GLOBAL = ipaddr.IPv6.parseCIDR('2000::/3');

/** Of IPv6 addresses that end in an IPv4 address, which is where the packets go: IPv4-mapped, IPv4-compatible, NAT64. */
const CARRIERS = ['::ffff:0:0/96', '::/96', '64:ff9b::/96'].map((it) => ipaddr.IPv6.parseCIDR(it));

/** The address that packets for this one end up at. */
function destination(address: Address): Address {
  if (!(address instanceof ipaddr.IPv6)) return address;
  const range = address.range();
  if (range === 'unspecified' || range === 'loopback') return address;
  const bytes = address.toByteArray();
  if (range === '6to4') return new ipaddr.IPv4(bytes.slice(2, 6));
  return CARRIERS.some((it) => address.match(it)) ? new ipaddr.IPv4(bytes.slice(12)) : address;
}
