import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PostgresRefusal } from './postgres-refusal.js';
import { accountMay, type ServerAccount } from './server-account.js';

/** Where the files of the embedded PostgreSQL lie. */
export interface ClusterHome {
  /** The directory of everything below. */
  directory: string;
  /** PostgreSQL's own data directory. */
  cluster: string;
  portFile: string;
  passwordFile: string;
  lockFile: string;
  logFile: string;
}

/** Where root keeps data and programs that an unprivileged account must reach. */
export const ROOT_STATE_DIRECTORY = '/var/lib/parley';

/**
 * Prepares `<dataDir>/postgres`. When root lends PostgreSQL another account that cannot pass a directory above
 * `dataDir` (a home with mode 0700), nothing of the user's is opened up: the files lie in
 * `/var/lib/parley/<name made from dataDir>` instead, and `<dataDir>/postgres/LOCATION` says so. Only `dataDir` itself and
 * what is in it become passable (not readable) to others.
 */
export function clusterHome(dataDir: string, account: ServerAccount | undefined): ClusterHome {
  mkdirSync(dataDir, { recursive: true });
  const real = realpathSync(dataDir);
  const own = join(real, 'postgres');
  mkdirSync(own, { recursive: true, mode: 0o700 });
  if (!account) return filesIn(own);
  if (canPass(account, dirname(real))) {
    makePassable(real);
    makePassable(own);
    return filesIn(own);
  }
  const elsewhere = join(ROOT_STATE_DIRECTORY, createHash('sha256').update(real).digest('hex').slice(0, 16));
  makeRootDirectory(elsewhere);
  writeFileSync(join(own, 'LOCATION'), `${elsewhere}\n`);
  return filesIn(elsewhere);
}

/** Whether the account can reach things in the directory through every directory above it. */
export function canPass(account: ServerAccount, directory: string): boolean {
  for (let current = directory; ; current = dirname(current)) {
    if (!accountMay(account, statSync(current), 1)) return false;
    if (current === dirname(current)) return true;
  }
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

function filesIn(directory: string): ClusterHome {
  return {
    directory,
    cluster: join(directory, 'cluster'),
    portFile: join(directory, 'port'),
    passwordFile: join(directory, 'password'),
    lockFile: join(directory, 'lock.sqlite'),
    logFile: join(directory, 'server.log'),
  };
}
