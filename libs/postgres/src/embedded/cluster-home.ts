import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { accountMay, PostgresRefusal, type ServerAccount, serverAccount, withPrivateGroup } from './server-account.js';

/** Writes a file that only its owner can read, whatever the umask and the mode of an existing file. */
export function writePrivate(path: string, text: string): void {
  closeToOthers(path);
  writeFileSync(path, text, { mode: 0o600 });
}

/** Creates an empty file that is private from the start. An existing file is closed to others, and never opened. */
export function ensurePrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    closeToOthers(path);
  }
}

/** Removes all rights of the group and of other users from an existing file. */
function closeToOthers(path: string): void {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode;
  if (mode !== undefined && (mode & 0o077) !== 0) chmodSync(path, mode & 0o7700);
}

/** Paths of the embedded PostgreSQL's files. */
export interface ClusterHome {
  /** Directory of all files below. Only Parley's user and PostgreSQL's account may pass it. */
  directory: string;
  /** PostgreSQL's data directory. */
  cluster: string;
  /** Folder of the server's socket, unless its path is too long for a socket. */
  socketFolder: string;
  /** File with the path of the socket's folder, if `socketFolder` would be too long. */
  socketFile: string;
  portFile: string;
  passwordFile: string;
  lockFile: string;
  logFile: string;
}

/**
 * Files of the server, and the account that owns them and runs PostgreSQL. `account` is `undefined` if this is the user
 * that runs Parley.
 */
export interface ClusterPlacement {
  home: ClusterHome;
  account: ServerAccount | undefined;
}

/** Directory in which root keeps data and programs that an unprivileged account must reach. */
export const ROOT_STATE_DIRECTORY = '/var/lib/parley';

/**
 * Prepares `<dataDir>/postgres` for the embedded PostgreSQL. Closes the folder to other users, and also files in it
 * that earlier versions left open.
 *
 * The service, if it runs as root, runs PostgreSQL under an unprivileged account:
 * - If this account can pass all directories above `dataDir`, `dataDir` itself becomes passable (not readable) to
 *   others.
 * - Otherwise (a home with mode 0700) no directory is opened. Instead the files lie in
 *   `/var/lib/parley/<name made from dataDir>`, and `<dataDir>/postgres/LOCATION` has this path.
 */
export function prepareCluster(dataDir: string): ClusterPlacement {
  // New parent directories get the usual mode: the server's account must pass them.
  makeDirectory(dataDir, 0o700);
  const real = realpathSync(dataDir);
  const own = join(real, 'postgres');
  mkdirSync(own, { recursive: true, mode: 0o700 });
  const elsewhere = join(ROOT_STATE_DIRECTORY, createHash('sha256').update(real).digest('hex').slice(0, 16));
  const ordinary = serverAccount(ownerOf(join(own, 'cluster')) ?? ownerOf(join(elsewhere, 'cluster')));
  if (!ordinary) return { home: filesIn(closeDirectory(own)), account: undefined };
  const account = withPrivateGroup(ordinary);
  for (const passing of [account, ordinary]) {
    if (!canPass(passing, dirname(real))) continue;
    makePassable(real);
    return { home: filesIn(closeDirectory(own, passing)), account: passing };
  }
  makeRootDirectory(elsewhere);
  writePrivate(join(own, 'LOCATION'), `${elsewhere}\n`);
  closeDirectory(own);
  return { home: filesIn(closeDirectory(elsewhere, account)), account };
}

/**
 * Creates a directory and its parents. Node's own recursive option loops forever where none can be created, as in
 * `/proc`.
 */
function makeDirectory(directory: string, mode = 0o777): void {
  if (existsSync(directory)) return;
  makeDirectory(dirname(directory));
  try {
    mkdirSync(directory, { mode });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** True if the account can reach files in the directory through every parent directory. */
export function canPass(account: ServerAccount, directory: string): boolean {
  for (let current = directory; ; current = dirname(current)) {
    if (!accountMay(account, statSync(current), 1)) return false;
    if (current === dirname(current)) return true;
  }
}

function ownerOf(cluster: string): number | undefined {
  return statSync(cluster, { throwIfNoEntry: false })?.uid;
}

function makeRootDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o711 });
  } catch (cause) {
    throw new PostgresRefusal(
      `PostgreSQL cannot reach DATA_DIR as an unprivileged user, and ${directory} cannot be made. ` +
        'Choose a DATA_DIR whose parent directories other users may pass, or set DATABASE_URL.',
      { cause },
    );
  }
}

function makePassable(directory: string): void {
  const { mode } = statSync(directory);
  if ((mode & 0o111) !== 0o111) chmodSync(directory, (mode & 0o7777) | 0o111);
}

/**
 * Closes a directory to all but its owner; the group of the server's account may pass it. A directory with the right
 * mode is left unchanged: a server of another process may use it, and must not be shut out even briefly.
 */
function closeDirectory(directory: string, account?: ServerAccount): string {
  if (!account) closeToOthers(directory);
  else {
    const { mode, gid } = statSync(directory);
    if (gid !== account.gid) chownSync(directory, -1, account.gid);
    if ((mode & 0o7777) !== 0o710) chmodSync(directory, 0o710);
  }
  return directory;
}

function filesIn(directory: string): ClusterHome {
  const pathTo = (name: string) => join(directory, name);
  const home = {
    directory,
    cluster: pathTo('cluster'),
    socketFolder: pathTo('socket'),
    socketFile: pathTo('socket-folder'),
    portFile: pathTo('port'),
    passwordFile: pathTo('password'),
    lockFile: pathTo('lock.sqlite'),
    logFile: pathTo('server.log'),
  };
  for (const path of [home.portFile, home.passwordFile, home.logFile, `${home.logFile}.1`]) closeToOthers(path);
  return home;
}
