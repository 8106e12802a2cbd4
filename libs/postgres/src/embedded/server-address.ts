import { randomInt } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmdirSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { canPass, type ClusterHome, writePrivate } from './cluster-home.js';
import { PostgresRefusal, type ServerAccount } from './server-account.js';

/**
 * Lowest port of the embedded server. The ports lie below the ranges of local ports for outgoing connections, so that
 * no connection takes one by chance.
 */
const LOWEST = 15_000;
const HIGHEST = 32_000;
const ATTEMPTS = 200;

/**
 * Returns the port stored in the file if it is free, else a free port, which is stored.
 * @throws Error if no port is free
 */
async function keptPort(file: string): Promise<number> {
  const kept = readPort(file);
  if (kept !== undefined && (await isFree(kept))) return kept;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = randomInt(LOWEST, HIGHEST);
    if (!(await isFree(port))) continue;
    keepPort(file, port);
    return port;
  }
  throw new Error(`No free port was found between ${LOWEST} and ${HIGHEST}`);
}

function keepPort(file: string, port: number): void {
  writePrivate(file, `${port}\n`);
}

function readPort(file: string): number | undefined {
  try {
    const port = Number(readFileSync(file, 'utf8'));
    return Number.isInteger(port) && port > 0 && port < 65_536 ? port : undefined;
  } catch {
    return undefined;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ port, host: '127.0.0.1' }, () => probe.close(() => resolve(true)));
  });
}

/** Maximum length of a socket's path, without the terminating byte. */
const LONGEST_PATH = process.platform === 'linux' ? 107 : 103;
const LONGEST_FILE = '/.s.PGSQL.65535';
const STICKY = 0o1000;
/**
 * Name of the folder for the socket. Its parent folder belongs to root, and only the group of the server's account may
 * traverse it (mode 0710), so no other process of that account can replace this folder.
 */
const INNER = 's';

/**
 * Returns the folder of the server's socket. Only the server's account and root can enter it.
 * - The folder is `home.socketFolder` if the path of a socket in it is short enough.
 * - Otherwise the folder has a random name below the system's temporary directory, and `home.socketFile` stores its
 *   path.
 * - A folder of another user is never used.
 * @throws PostgresRefusal if `home.socketFolder` is not private, or no folder can be created
 */
function socketFolder(home: ClusterHome, account: ServerAccount | undefined): string {
  if (fitsSocketPath(home.socketFolder)) return requireFolder(home.socketFolder, account);
  const kept = readKept(home.socketFile);
  if (kept !== undefined && ensureFolder(kept, account)) return kept;
  const folder = newShortFolder(account);
  writePrivate(home.socketFile, `${folder}\n`);
  return folder;
}

/**
 * Creates the folder of the socket if it is missing.
 * @throws PostgresRefusal if the existing folder is not private
 */
function ensureSocketFolder(folder: string, account: ServerAccount | undefined): void {
  requireFolder(folder, account);
}

/** Removes the socket folder of a stopped server from the temporary directory (see `socketFolder`). */
export function removeShortFolder(home: ClusterHome): void {
  const kept = readKept(home.socketFile);
  if (kept === undefined || fitsSocketPath(home.socketFolder)) return;
  try {
    rmdirSync(kept);
    if (basename(kept) === INNER) rmdirSync(dirname(kept));
  } catch {
    // The folder is gone already, or not empty; a folder with other files must stay.
  }
}

function requireFolder(folder: string, account: ServerAccount | undefined): string {
  if (ensureFolder(folder, account)) return folder;
  throw new PostgresRefusal(
    `${folder} is to hold PostgreSQL's socket, but it is not a folder of PostgreSQL's account alone (mode 0700). Remove it.`,
  );
}

function ensureFolder(folder: string, account: ServerAccount | undefined): boolean {
  if (account && basename(folder) === INNER && !ensurePassage(dirname(folder), account)) return false;
  try {
    mkdirSync(folder, { mode: 0o700 });
    giveFolder(folder, account);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return false;
  }
  const { uid, mode } = lstatSync(folder);
  const owner = account?.uid ?? process.getuid?.();
  return lstatSync(folder).isDirectory() && uid === owner && (mode & 0o077) === 0;
}

/**
 * Creates the parent folder of INNER in the temporary directory. It is owned by root, so that no process of the
 * server's account can replace INNER. Returns false if the folder cannot be created, or an existing one is not safe.
 */
function ensurePassage(folder: string, account: ServerAccount): boolean {
  try {
    mkdirSync(folder, { mode: 0o700 });
    letPass(folder, account);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return false;
  }
  const found = lstatSync(folder);
  return found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o067) === 0;
}

function letPass(folder: string, account: ServerAccount): void {
  chownSync(folder, process.getuid?.() ?? 0, account.gid);
  chmodSync(folder, 0o710);
}

function giveFolder(folder: string, account: ServerAccount | undefined): void {
  if (account) chownSync(folder, account.uid, account.gid);
  chmodSync(folder, 0o700);
}

function newShortFolder(account: ServerAccount | undefined): string {
  for (const parent of [tmpdir(), '/tmp']) {
    const folder = join(parent, 'parley-XXXXXX', INNER);
    if (!fitsSocketPath(folder) || !isSafeParent(parent, account)) continue;
    const made = mkdtempSync(join(realpathSync(parent), 'parley-'));
    if (!account) return made;
    letPass(made, account);
    mkdirSync(join(made, INNER), { mode: 0o700 });
    giveFolder(join(made, INNER), account);
    return join(made, INNER);
  }
  throw new PostgresRefusal(
    'DATA_DIR is too long a path for a Unix socket, and no temporary directory (TMPDIR, /tmp) can hold one that other ' +
      'users cannot replace. Choose a shorter DATA_DIR.',
  );
}

/**
 * True if the account can pass the parent, and a folder in it can be replaced only by root, by this user, and by the
 * owner of the folder.
 */
function isSafeParent(parent: string, account: ServerAccount | undefined): boolean {
  try {
    const real = realpathSync(parent);
    const { uid, mode } = lstatSync(real);
    if (uid !== 0 && uid !== process.getuid?.()) return false;
    if ((mode & 0o022) !== 0 && (mode & STICKY) === 0) return false;
    return account === undefined || canPass(account, real);
  } catch {
    return false;
  }
}

function fitsSocketPath(folder: string): boolean {
  return Buffer.byteLength(folder) + LONGEST_FILE.length <= LONGEST_PATH;
}

function readKept(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}

/** Address of a server as in libpq: a host that begins with `/` is the folder of a Unix socket. */
export interface ServerAddress {
  host: string;
  port: number;
}

/** Kind of address: a socket that other users cannot reach, or a port of 127.0.0.1 on systems without such sockets. */
export type Listening = 'socket' | 'loopback';

export const LOOPBACK = '127.0.0.1';
/** Port in the name of a socket's file (`.s.PGSQL.5432`); psql expects this one by default. */
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
 * Recreates the socket folder of an address that clients still use.
 * @throws PostgresRefusal if another user has taken the folder
 */
export function reclaimAddress(address: ServerAddress, account: ServerAccount | undefined): ServerAddress {
  if (isSocket(address)) ensureSocketFolder(address.host, account);
  return address;
}

/** Stores the address for the next start. */
export function keepAddress(home: ClusterHome, address: ServerAddress): void {
  if (!isSocket(address)) keepPort(home.portFile, address.port);
}

/**
 * Returns the connection string of a database. Sessions with this string accept no server that does not know the
 * password.
 */
export function databaseUrl(address: ServerAddress, user: string, password: string, database: string): string {
  const host = encodeURIComponent(address.host);
  return `postgres://${user}:${password}@${host}:${address.port}/${database}?require_auth=scram-sha-256`;
}
