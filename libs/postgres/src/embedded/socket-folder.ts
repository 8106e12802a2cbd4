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
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { canPass, type ClusterHome } from './cluster-home.js';
import { writePrivate } from './private-file.js';
import { PostgresRefusal } from './postgres-refusal.js';
import type { ServerAccount } from './server-account.js';

/** Maximum length of a socket's path, without the terminating byte. */
const LONGEST_PATH = process.platform === 'linux' ? 107 : 103;
const LONGEST_FILE = '/.s.PGSQL.65535';
const STICKY = 0o1000;
/** Folder below root's short folder, which only the server's group passes; other processes of the account cannot. */
const INNER = 's';

/**
 * Returns the folder of the server's socket, which only the server's account (and root) can enter. It is `socket`
 * beside the data if a socket's path may be that long; else a folder with a random name below the system's temporary
 * directory, whose name is stored in the home. A folder of another user is never used.
 */
export function socketFolder(home: ClusterHome, account: ServerAccount | undefined): string {
  if (fitsSocketPath(home.socketFolder)) return requireFolder(home.socketFolder, account);
  const kept = readKept(home.socketFile);
  if (kept !== undefined && ensureFolder(kept, account)) return kept;
  const folder = newShortFolder(account);
  writePrivate(home.socketFile, `${folder}\n`);
  return folder;
}

/** Creates the folder if it is missing. @throws PostgresRefusal if the existing folder is not private */
export function ensureSocketFolder(folder: string, account: ServerAccount | undefined): void {
  requireFolder(folder, account);
}

/** Removes the short folder of a stopped server from the temporary directory. */
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

/** Creates the short folder as root's own, so that no process of the account can replace the inner folder. */
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

/** True if the account can pass the parent, and only root and its owner could replace a folder in it. */
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
