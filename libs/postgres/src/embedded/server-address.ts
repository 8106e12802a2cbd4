import { keepPort, keptPort } from './local-port.js';
import type { ClusterHome } from './cluster-home.js';
import type { ServerAccount } from './server-account.js';
import { ensureSocketFolder, socketFolder } from './socket-folder.js';

/** Address of a server as in libpq: a host that begins with `/` is the folder of a Unix socket. */
export interface ServerAddress {
  host: string;
  port: number;
}

/** Kind of address: a socket that other users cannot reach, or a port of 127.0.0.1 on systems without such sockets. */
export type Listening = 'socket' | 'loopback';

export const LOOPBACK = '127.0.0.1';
/** Port in the name of a socket's file; psql expects this one. */
const SOCKET_PORT = 5432;

/** Returns the default kind of address. Node connects to Unix sockets everywhere except on Windows. */
export function usualListening(): Listening {
  return process.platform === 'win32' ? 'loopback' : 'socket';
}

export function isSocket({ host }: ServerAddress): boolean {
  return host.startsWith('/');
}

/** Returns an address for a server that is about to start, the stored one if possible. */
export async function newAddress(
  home: ClusterHome,
  account: ServerAccount | undefined,
  listening: Listening,
): Promise<ServerAddress> {
  if (listening === 'loopback') return { host: LOOPBACK, port: await keptPort(home.portFile) };
  return { host: socketFolder(home, account), port: SOCKET_PORT };
}

/**
 * Makes an address usable again that clients still hold. @throws PostgresRefusal if another user has taken its folder
 */
export function reclaimAddress(address: ServerAddress, account: ServerAccount | undefined): ServerAddress {
  if (isSocket(address)) ensureSocketFolder(address.host, account);
  return address;
}

/** Stores the address for the next start. */
export function keepAddress(home: ClusterHome, address: ServerAddress): void {
  if (!isSocket(address)) keepPort(home.portFile, address.port);
}

/** Returns the connection string of a database. Its users accept no server that does not know the password. */
export function databaseUrl(address: ServerAddress, user: string, password: string, database: string): string {
  const host = encodeURIComponent(address.host);
  return `postgres://${user}:${password}@${host}:${address.port}/${database}?require_auth=scram-sha-256`;
}
