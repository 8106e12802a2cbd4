import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { CommandError, EXIT } from './exit-code.js';
import { withoutJemalloc } from './node-settings.js';

export type ProgramName = 'pg_dump' | 'pg_restore';

export interface PostgresProgram {
  path: string;
  /** Major version of PostgreSQL that the program belongs to. */
  version: number;
}

/** Minimum major version of a program, and the reason for it. */
export interface ProgramNeed {
  version: number;
  because: string;
}

/** Folders in which distributions keep one folder per version. */
const VERSIONED = ['/usr/lib/postgresql', '/opt/homebrew/opt', '/usr/local/opt', 'C:\\Program Files\\PostgreSQL'];
/**
 * Folder in which other distributions keep one folder per version among other files, and the prefix of these folders'
 * names: `/usr/pgsql-17`.
 */
const PREFIXED = { folder: '/usr', prefix: 'pgsql-' };

/**
 * Returns one of PostgreSQL's own programs, in the oldest sufficient version that is installed.
 * @throws CommandError that says what to install
 */
export function postgresProgram(name: ProgramName, { version: needed, because }: ProgramNeed): PostgresProgram {
  const found = programsHere(name);
  const program = found.find(({ version }) => version >= needed);
  if (program) return program;
  const newest = found.at(-1);
  const here = newest ? `the newest here is ${newest.path}, of ${newest.version}` : 'there is none here';
  throw new CommandError(
    `${because} needs ${name} ${needed} or newer, which does not come with Parley; ${here}. ` +
      `Install PostgreSQL's client programs (https://www.postgresql.org/download: postgresql-client-${needed}, ` +
      `postgresql${needed} or libpq), or put their folder on PATH.`,
    EXIT.failed,
  );
}

/** Returns the installed programs of a name, oldest version first. */
export function programsHere(name: ProgramName): PostgresProgram[] {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), ...versionedFolders()];
  const programs = [...new Set(folders)]
    .map((folder) => join(folder, process.platform === 'win32' ? `${name}.exe` : name))
    .filter((path) => existsSync(path))
    .flatMap((path) => {
      const { stdout } = spawnSync(path, ['--version'], { encoding: 'utf8', env: withoutJemalloc(process.env) });
      const version = Number(/\) (\d+)/.exec(stdout ?? '')?.[1]);
      return version > 0 ? [{ path, version }] : [];
    });
  return programs.toSorted((one, other) => one.version - other.version);
}

function versionedFolders(): string[] {
  const binFolders = (folder: string, prefix = ''): string[] =>
    existsSync(folder)
      ? readdirSync(folder)
          .filter((version) => version.startsWith(prefix))
          .map((version) => join(folder, version, 'bin'))
      : [];
  return [...VERSIONED.flatMap((it) => binFolders(it)), ...binFolders(PREFIXED.folder, PREFIXED.prefix)];
}

/**
 * Runs a program to its end, on a database if a URL is given. The password is passed in the environment, which no other
 * user can read.
 * @returns the program's output
 * @throws CommandError with the program's error output if the program failed; the reason of `signal` if that aborted
 */
export async function runProgram(
  { path }: PostgresProgram,
  args: readonly string[],
  url: string | undefined,
  signal: AbortSignal,
): Promise<string> {
  signal.throwIfAborted();
  const connection = url === undefined ? { args: [], env: {} } : connectionOf(url);
  const child = spawn(path, [...connection.args, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...withoutJemalloc(process.env), LC_ALL: 'C', ...connection.env },
    // Ctrl-C reaches the whole process group of a terminal; this process forwards it itself.
    detached: process.platform !== 'win32',
  });
  const stopChild = (): void => void child.kill('SIGTERM');
  signal.addEventListener('abort', stopChild, { once: true });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (out += chunk));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('close', resolve);
    child.once('error', (error) => reject(new CommandError(`${path}: ${error.message}`, EXIT.failed)));
  });
  signal.removeEventListener('abort', stopChild);
  if (code === 0) return out;
  signal.throwIfAborted();
  throw new CommandError(err.trim() || `${path} ended with ${code}`, EXIT.failed);
}

/** Converts a database URL for libpq: without its password, and without parameters that only node-postgres knows. */
function connectionOf(text: string): { args: string[]; env: Record<string, string> } {
  const url = new URL(text);
  const members = url.search.slice(1).split('&');
  const asked = members.find((it) => it.startsWith('password='))?.slice('password='.length);
  const password = decodeURIComponent(asked ?? url.password);
  url.password = '';
  url.search = members
    .filter((it) => !/^(password|uselibpqcompat)=/.test(it))
    .map((it) => (it === 'sslmode=no-verify' ? 'sslmode=require' : it))
    .join('&');
  return { args: ['--dbname', url.href, '--no-password'], env: password === '' ? {} : { PGPASSWORD: password } };
}
