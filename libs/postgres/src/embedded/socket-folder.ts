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

/** What an address of a socket can hold, less the byte that ends it. */
const LONGEST_PATH = process.platform === 'linux' ? 107 : 103;
const LONGEST_FILE = '/.s.PGSQL.65535';
const STICKY = 0o1000;
/** Below a short folder of root's, which only the server's own group passes: other processes of its account do not. */
const INNER = 's';

/**
 * The folder of the server's socket, which nobody but the server's account (and root) can enter: `socket` beside the
 * data where a socket's path may be that long; else one with a random name below the system's temporary directory,
 * whose name the home keeps. Never a folder that somebody else has made.
 */
export function socketFolder(home: ClusterHome, account: ServerAccount | undefined): string {
  if (fits(home.socketFolder)) return ensured(home.socketFolder, account);
  const kept = readKept(home.socketFile);
  if (kept !== undefined && ensureFolder(kept, account)) return kept;
  const folder = newShortFolder(account);
  writePrivate(home.socketFile, `${folder}\n`);
  return folder;
}

/** Makes the folder where it is gone. Throws `PostgresRefusal` where what lies there is not ours alone. */
export function ensureSocketFolder(folder: string, account: ServerAccount | undefined): void {
  ensured(folder, account);
}

/** Nothing stays below the temporary directory of a server that was stopped. */
export function removeShortFolder(home: ClusterHome): void {
  const kept = readKept(home.socketFile);
  if (kept === undefined || fits(home.socketFolder)) return;
  try {
    rmdirSync(kept);
    if (basename(kept) === INNER) rmdirSync(dirname(kept));
  } catch {
    // Gone already, or not empty: then it is not ours to remove.
  }
}

function ensured(folder: string, account: ServerAccount | undefined): string {
  if (ensureFolder(folder, account)) return folder;
  throw new PostgresRefusal(
    `${folder} is to hold PostgreSQL's socket, but it is not a folder of PostgreSQL's account alone (mode 0700). Remove it.`,
  );
}

function ensureFolder(folder: string, account: ServerAccount | undefined): boolean {
  if (account && basename(folder) === INNER && !ensurePassage(dirname(folder), account)) return false;
  try {
    mkdirSync(folder, { mode: 0o700 });
    give(folder, account);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return false;
  }
  const { uid, mode } = lstatSync(folder);
  const owner = account?.uid ?? process.getuid?.();
  return lstatSync(folder).isDirectory() && uid === owner && (mode & 0o077) === 0;
}

/** The short folder itself is root's, so that nobody of the account puts another folder in the place of the inner one. */
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

function give(folder: string, account: ServerAccount | undefined): void {
  if (account) chownSync(folder, account.uid, account.gid);
  chmodSync(folder, 0o700);
}

function newShortFolder(account: ServerAccount | undefined): string {
  for (const parent of [tmpdir(), '/tmp']) {
    const folder = join(parent, 'parley-XXXXXX', INNER);
    if (!fits(folder) || !isSafeParent(parent, account)) continue;
    const made = mkdtempSync(join(realpathSync(parent), 'parley-'));
    if (!account) return made;
    letPass(made, account);
    mkdirSync(join(made, INNER), { mode: 0o700 });
    give(join(made, INNER), account);
    return join(made, INNER);
  }
  throw new PostgresRefusal(
    'DATA_DIR is too long a path for a Unix socket, and no temporary directory (TMPDIR, /tmp) can hold one that other ' +
      'users cannot replace. Choose a shorter DATA_DIR.',
  );
}

/** Whether the account gets there, and nobody but root and its owner can put something else in our folder's place. */
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

function fits(folder: string): boolean {
  return Buffer.byteLength(folder) + LONGEST_FILE.length <= LONGEST_PATH;
}

function readKept(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}
