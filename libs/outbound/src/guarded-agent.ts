import { lookup as dnsLookup, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { type AddressGuard, bareHost } from './address-guard.js';
import { OutboundConnectError, OutboundRefusedError, OutboundTimeoutError } from './outbound-errors.js';

/**
 * Time in milliseconds after which an idle connection is closed. A Message sent on a connection that the agent closes
 * at that moment fails permanently: it is unknown whether it arrived. Some servers close connections silently after two
 * idle seconds, so connections are reused for one second at most, and only until `CLOSING_MS` before the time that the
 * server announces.
 */
const IDLE_MS = 1_000;
const CLOSING_MS = 3_000;

export interface GuardedAgentOptions {
  /** Limit in milliseconds for name resolution, TCP and TLS together. */
  connectTimeoutMs: number;
  /** Maximum number of bytes of an answer's body, beyond which it is an error. Absent: no limit. */
  maxResponseSize?: number;
}

/**
 * Creates an undici Agent that connects only where the guard permits. The guard checks the very addresses used for the
 * connection, so DNS rebinding has no effect.
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

function guardedLookup(guard: AddressGuard, port: number): LookupFunction {
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

function addressRefusal(host: string): OutboundRefusedError {
  return new OutboundRefusedError(
    `Calls to ${host} are not allowed: its address is not public (see OUTBOUND_ALLOW)`,
    'address',
  );
}

function connectFailure(error: Error): Error {
  if (error instanceof OutboundRefusedError) return error;
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT')
    return new OutboundTimeoutError('connect', { cause: error });
  return new OutboundConnectError(`No connection could be made (${code ?? error.name})`, { cause: error });
}
