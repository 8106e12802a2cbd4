import { keepPort, keptPort } from './local-port.js';
import type { ClusterHome } from './cluster-home.js';
import type { ServerAccount } from './server-account.js';
import { ensureSocketFolder, socketFolder } from './socket-folder.js';

/** Where a server listens, in libpq's words: a host that begins with `/` is the folder of a Unix socket. */
export interface ServerAddress {
  host: string;
  port: number;
}

/** What a server listens on: a socket that other users do not reach, or a port of 127.0.0.1 where there are no such sockets. */
export type Listening = 'socket' | 'loopback';

export const LOOPBACK = '127.0.0.1';
/** A socket's file has it in its name; psql looks for this one. */
const SOCKET_PORT = 5432;

/** Node connects to Unix sockets everywhere but on Windows. */
export function usualListening(): Listening {
  return process.platform === 'win32' ? 'loopback' : 'socket';
}

export function isSocket({ host }: ServerAddress): boolean {
  return host.startsWith('/');
}

/** An address for a server that is about to start, the kept one where that is possible. */
export async function newAddress(
  home: ClusterHome,
  account: ServerAccount | undefined,
  listening: Listening,
): Promise<ServerAddress> {
  if (listening === 'loopback') return { host: LOOPBACK, port: await keptPort(home.portFile) };
  return { host: socketFolder(home, account), port: SOCKET_PORT };
}

/** Makes an address usable again that clients hold. Throws where somebody else has it by now. */
export function reclaimAddress(address: ServerAddress, account: ServerAccount | undefined): ServerAddress {
  if (isSocket(address)) ensureSocketFolder(address.host, account);
  return address;
}

/** What the next start shall find again. */
export function keepAddress(home: ClusterHome, address: ServerAddress): void {
  if (!isSocket(address)) keepPort(home.portFile, address.port);
}

/** The connection string of a database there; whoever uses it lets no server in that does not know the password. */
export function databaseUrl(address: ServerAddress, user: string, password: string, database: string): string {
  const host = encodeURIComponent(address.host);
  return `postgres://${user}:${password}@${host}:${address.port}/${database}?require_auth=scram-sha-256`;
}
