import { BlockList, isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Addresses that an AddressGuard permits beside public ones. */
export interface AddressPolicy {
  /** Host names, IP addresses or CIDR ranges (`OUTBOUND_ALLOW`). */
  allow: readonly string[];
  /** True if this machine may be called: set if all callers are on this machine, too. */
  loopback: boolean;
}

/**
 * Decides by IP address, never by name alone, where outbound calls may go. Every address that is not public unicast is
 * refused unless the operator allowed it. These are private, loopback, link-local (with the clouds' metadata services),
 * carrier-grade NAT, multicast, unspecified and documentation addresses, and the IPv6 forms that embed one of them.
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

  /** Permits calls to one host and port that the operator configured, whatever its address. */
  allowOrigin(url: string): void {
    const { hostname, port, protocol } = new URL(url);
    this.origins.add(originKey(bareHost(hostname), Number(port || defaultPort(protocol))));
  }

  /** True if a connection for `host:port` may go to `address`, one of the addresses that the host resolves to. */
  permitsAddress(host: string, port: number, address: string): boolean {
    const name = bareHost(host);
    if (this.hosts.has(name) || this.origins.has(originKey(name, port))) return true;
    const plain = address.split('%', 1).join();
    // The library also accepts octal numbers, short forms and single numbers as addresses.
    if (isIP(address) === 0 || !ipaddr.isValid(plain)) return false;
    const reached = packetDestination(ipaddr.parse(plain));
    if (this.ranges.check(reached.toString(), reached.kind())) return true;
    const range = reached.range();
    if (range === 'loopback') return this.policy.loopback;
    return reached.kind() === 'ipv4' ? REACHED_FROM_ANYWHERE.has(range) : range === 'unicast' && reached.match(GLOBAL);
  }
}

/** Normalizes the host of a URL: lower case, without IPv6 brackets and root dot. */
export function bareHost(host: string): string {
  return host
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
}

/** Returns the default port of a protocol. */
export function defaultPort(protocol: string): string {
  return protocol === 'https:' ? '443' : '80';
}

function originKey(host: string, port: number): string {
  return `${host}|${port}`;
}

type Address = ReturnType<typeof ipaddr.parse>;

/** IPv4 ranges that are publicly reachable. */
const REACHED_FROM_ANYWHERE: ReadonlySet<string> = new Set(['unicast', 'as112', 'amt']);

/** IPv6 space allocated for the internet. */
const GLOBAL = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * IPv6 ranges whose addresses end in the IPv4 address that receives the packets: IPv4-mapped, IPv4-compatible, NAT64.
 */
const CARRIERS = ['::ffff:0:0/96', '::/96', '64:ff9b::/96'].map((it) => ipaddr.IPv6.parseCIDR(it));

/** Returns the address that receives packets sent to an address. */
function packetDestination(address: Address): Address {
  if (!(address instanceof ipaddr.IPv6)) return address;
  const range = address.range();
  if (range === 'unspecified' || range === 'loopback') return address;
  const bytes = address.toByteArray();
  if (range === '6to4') return new ipaddr.IPv4(bytes.slice(2, 6));
  return CARRIERS.some((it) => address.match(it)) ? new ipaddr.IPv4(bytes.slice(12)) : address;
}
