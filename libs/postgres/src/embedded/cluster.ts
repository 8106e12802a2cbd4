import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type ClusterHome, writePrivate } from './cluster-home.js';
import type { PostgresPrograms } from './postgres-programs.js';
import { PostgresRefusal, type ServerAccount } from './server-account.js';
import { serverEnvironment } from './server-process.js';

export const SUPERUSER = 'parley';

/**
 * Creates the data directory if it is missing, and returns its superuser's password. An incomplete directory never has
 * the final name.
 * @throws PostgresRefusal for a data directory of another major version
 */
export async function ensureCluster(
  home: ClusterHome,
  programs: PostgresPrograms,
  account: ServerAccount | undefined,
): Promise<string> {
  const versionFile = join(home.cluster, 'PG_VERSION');
  if (!existsSync(versionFile)) await createCluster(home, programs, account);
  refuseOtherMajor(readFileSync(versionFile, 'utf8').trim(), programs.majorVersion, home.cluster);
  return readFileSync(home.passwordFile, 'utf8').trim();
}

/** Access rules for `pg_hba.conf`: every connection needs the password. */
const ACCESS_RULES = `# Written by Parley at every start of the server: what is changed here is lost.
# TYPE  DATABASE  USER  ADDRESS       METHOD
local   all       all                 scram-sha-256
host    all       all   127.0.0.1/32  scram-sha-256
`;

/**
 * Writes the access rules into `pg_hba.conf`.
 * @returns true if they changed; a running server must reload them
 */
export function ensureAccessRules(home: ClusterHome, account: ServerAccount | undefined): boolean {
  const path = join(home.cluster, 'pg_hba.conf');
  if (existsSync(path) && readFileSync(path, 'utf8') === ACCESS_RULES) return false;
  const draft = join(home.directory, `draft-${process.pid}-access`);
  rmSync(draft, { force: true });
  writeOwned(draft, ACCESS_RULES, account);
  renameSync(draft, path);
  return true;
}

async function createCluster(
  home: ClusterHome,
  programs: PostgresPrograms,
  account: ServerAccount | undefined,
): Promise<void> {
  removeDrafts(home);
  const draft = mkdirOwned(join(home.directory, `draft-${process.pid}`), account);
  const passwordFile = join(draft, 'password');
  const data = mkdirOwned(join(draft, 'data'), account);
  const password = randomBytes(24).toString('base64url');
  writeOwned(passwordFile, `${password}\n`, account);
  const options = ['--locale=C', '--encoding=UTF8', '--auth=scram-sha-256', `--username=${SUPERUSER}`];
  try {
    await promisify(execFile)(programs.initdb, ['-D', data, ...options, `--pwfile=${passwordFile}`], {
      uid: account?.uid,
      gid: account?.gid,
      cwd: home.directory,
      env: serverEnvironment(),
    });
  } catch (cause) {
    throw new Error(`initdb failed: ${(cause as { stderr?: string }).stderr?.trim() ?? String(cause)}`, { cause });
  }
  writePrivate(home.passwordFile, `${password}\n`);
  renameSync(data, home.cluster);
  rmSync(draft, { recursive: true, force: true });
}

/**
 * Removes drafts: directories and files that a killed process did not complete. The caller holds the lock of the data
 * directory (`withHomeLock`), so no process uses them.
 */
function removeDrafts(home: ClusterHome): void {
  for (const name of readdirSync(home.directory)) {
    if (name.startsWith('draft-')) rmSync(join(home.directory, name), { recursive: true, force: true });
  }
}

function mkdirOwned(path: string, account: ServerAccount | undefined): string {
  mkdirSync(path, { mode: 0o700 });
  if (account) chownSync(path, account.uid, account.gid);
  return path;
}

function writeOwned(path: string, text: string, account: ServerAccount | undefined): void {
  writeFileSync(path, text, { mode: 0o600 });
  if (account) chownSync(path, account.uid, account.gid);
}

function refuseOtherMajor(found: string, ours: string, cluster: string): void {
  if (found === ours) return;
  throw new PostgresRefusal(
    `${cluster} was made by PostgreSQL ${found}, this version of Parley brings PostgreSQL ${ours}. ` +
      `Nothing was changed. Move the data with PostgreSQL ${found}'s pg_dump, or point DATABASE_URL to a PostgreSQL ${found} that serves it.`,
  );
}
