import ipaddr from 'ipaddr.js';
import { lookup as dnsLookup, type LookupAddress } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { OutboundConnectError, OutboundFault, OutboundRefusedError, OutboundTimeoutError } from './outbound-errors.js';

/** Addresses that an AddressGuard permits in addition to public addresses. */
export interface AddressPolicy {
  /** Host names, IP addresses or CIDR ranges (`OUTBOUND_ALLOW`). */
  allow: readonly string[];
  /** True if loopback addresses may be called, because all callers are on this machine, too. */
  loopback: boolean;
}

/**
 * Decides where outbound calls may connect, against server-side request forgery (SSRF).
 *
 * - A host name in `OUTBOUND_ALLOW`, and an origin permitted by `allowOrigin`, is permitted whatever its IP address.
 * - Every other host is checked by its IP address. Public unicast addresses and the ranges of `OUTBOUND_ALLOW` are
 *   permitted.
 * - All other addresses are refused: private, loopback, link-local (with the clouds' metadata services), carrier-grade
 *   NAT, multicast, unspecified and documentation addresses, and the IPv6 forms that embed such an address.
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

  /** Permits calls to the host and port of a URL that the operator configured, whatever the host's address. */
  allowOrigin(url: string): void {
    const { hostname, port, protocol } = new URL(url);
    this.origins.add(originKey(bareHost(hostname), Number(port || defaultPort(protocol))));
  }

  /** True if a connection to `host:port` may be made to `address`, one of the IP addresses of the host. */
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

/** Returns the default port of a URL's protocol (`https:` or `http:`). */
export function defaultPort(protocol: string): string {
  return protocol === 'https:' ? '443' : '80';
}

function originKey(host: string, port: number): string {
  return `${host}|${port}`;
}

type Address = ReturnType<typeof ipaddr.parse>;

/** Names of IPv4 ranges (of ipaddr.js) that are publicly reachable. */
const REACHED_FROM_ANYWHERE: ReadonlySet<string> = new Set(['unicast', 'as112', 'amt']);

/** IPv6 space allocated for the internet. */
const GLOBAL = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * IPv6 ranges whose addresses end in an IPv4 address, to which their packets are sent: IPv4-mapped, IPv4-compatible,
 * NAT64.
 */
const CARRIERS = ['::ffff:0:0/96', '::/96', '64:ff9b::/96'].map((it) => ipaddr.IPv6.parseCIDR(it));

/**
 * Returns the address that really receives the packets for an address: for some IPv6 addresses the IPv4 address in
 * them.
 */
function packetDestination(address: Address): Address {
  if (!(address instanceof ipaddr.IPv6)) return address;
  const range = address.range();
  if (range === 'unspecified' || range === 'loopback') return address;
  const bytes = address.toByteArray();
  if (range === '6to4') return new ipaddr.IPv4(bytes.slice(2, 6));
  return CARRIERS.some((it) => address.match(it)) ? new ipaddr.IPv4(bytes.slice(12)) : address;
}

/**
 * Maximum milliseconds that an idle connection is kept, even if the server allows more. If the server closes a
 * connection just when a Message is sent on it, the Message fails and cannot be repeated, because it is unknown whether
 * the Message arrived. Some servers close connections silently after two idle seconds.
 */
const IDLE_MS = 1_000;
/**
 * Milliseconds before the announced end of an idle connection in which the connection is no longer reused. A server
 * announces in its `Keep-Alive` header for how long it keeps an idle connection open.
 */
const CLOSING_MS = 3_000;

export interface GuardedAgentOptions {
  /** Limit in milliseconds for name resolution, TCP and TLS together. */
  connectTimeoutMs: number;
  /** Maximum number of bytes of an answer's body, beyond which it is an error. Absent: no limit. */
  maxResponseSize?: number;
}

/**
 * Creates an undici Agent that connects only where the guard permits. The guard checks the very IP addresses that the
 * connection uses, so DNS rebinding has no effect.
 */
export function guardedAgent(guard: AddressGuard, options: GuardedAgentOptions): Agent {
  return new Agent({
    connect: guardedConnector(guard, options.connectTimeoutMs),
    allowH2: false,
    maxResponseSize: options.maxResponseSize ?? -1,
    keepAliveTimeout: IDLE_MS,
    keepAliveTimeoutThreshold: CLOSING_MS,
  });
}

function guardedConnector(guard: AddressGuard, timeout: number): buildConnector.connector {
  const connectors = new Map<number, buildConnector.connector>();
  return (target, callback) => {
    const port = Number(target.port || (target.protocol === 'https:' ? 443 : 80));
    const host = bareHost(target.hostname);
    if (isIP(host) !== 0 && !guard.permitsAddress(host, port, host)) return callback(addressRefusal(host), null);
    let connect = connectors.get(port);
    if (!connect)
      connectors.set(port, (connect = buildConnector({ timeout, allowH2: false, lookup: guardedLookup(guard, port) })));
    connect({ ...target, hostname: host }, (error, socket) => {
      if (error) callback(connectFailure(error), null);
      else callback(null, socket);
    });
  };
}

/** Returns a DNS lookup that yields only the addresses that the guard permits. */
export function guardedLookup(guard: AddressGuard, port: number): LookupFunction {
  return (hostname, options, callback) => {
    dnsLookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '', 0);
      const permitted = addresses.filter(({ address }) => guard.permitsAddress(hostname, port, address));
      if (permitted.length === 0) return callback(addressRefusal(hostname), '', 0);
      if (options.all) (callback as (error: null, addresses: LookupAddress[]) => void)(null, permitted);
      else callback(null, permitted[0]!.address, permitted[0]!.family);
    });
  };
}

/** Creates the error for a host without an address that may be called. */
export function addressRefusal(host: string): OutboundRefusedError {
  return new OutboundRefusedError(
    `Calls to ${host} are not allowed: its address is not public (see OUTBOUND_ALLOW)`,
    'address',
  );
}

/** Converts an error of a connection attempt to the error of the outbound client. */
export function connectFailure(error: Error): Error {
  if (error instanceof OutboundFault) return error;
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT')
    return new OutboundTimeoutError('connect', { cause: error });
  return new OutboundConnectError(`No connection could be made (${code ?? error.name})`, { cause: error });
}

const BEAT_MS = 250;
/**
 * Minimum milliseconds between two ticks of a timer that count as a standstill. The ticks of a busy process are closer
 * together. The value is that of IDLE_MS, the longest time that an idle connection is kept.
 */
const STANDSTILL_MS = 1_000;

/**
 * Detects standstills of this process: times in which it was suspended, or its event loop was blocked for long. The
 * timers that close idle connections also stand still then, and run late afterwards.
 */
export class StandstillWatch {
  private beatAt = performance.now();
  private standstills = 0;
  private isOver = false;
  private readonly timer = setInterval(() => this.countStandstills(), BEAT_MS).unref();

  /**
   * Returns the number of standstills so far. A standstill that has just ended counts at once, even if no timer has run
   * since.
   */
  countStandstills(): number {
    const now = performance.now();
    if (!this.isOver && now - this.beatAt > STANDSTILL_MS) this.standstills += 1;
    this.beatAt = now;
    return this.standstills;
  }

  /** Stops the watch; standstills are no longer counted. */
  stop(): void {
    this.isOver = true;
    clearInterval(this.timer);
  }
}

/**
 * Returns a dispatcher that reuses no connection from before a standstill: the peer may have closed it, and a Message
 * sent on it would fail and could not be repeated. Calls in progress on old connections continue.
 * @param open set of all agents in use, which their owner destroys at the end
 * @param make creates the agent for new connections
 */
export function renewedConnections(watch: StandstillWatch, open: Set<Agent>, make: () => Agent): Dispatcher {
  const first = make();
  open.add(first);
  let current = first;
  let seen = watch.countStandstills();
  return first.compose(() => (request, handler) => {
    const standstills = watch.countStandstills();
    if (standstills !== seen) {
      seen = standstills;
      const old = current;
      current = make();
      open.add(current);
      void old
        .close()
        .catch(() => undefined)
        .finally(() => open.delete(old));
    }
    return current.dispatch(request, handler);
  });
}
