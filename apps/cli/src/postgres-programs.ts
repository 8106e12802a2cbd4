import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { CommandError, EXIT } from './exit-code.js';

export type ProgramName = 'pg_dump' | 'pg_restore';

export interface PostgresProgram {
  path: string;
  /** The major version of PostgreSQL that it comes from. */
  version: number;
}

/** The least version that will do, and what asks for it. */
export interface ProgramNeed {
  version: number;
  because: string;
}

/** Where distributions keep a folder for each version. */
const VERSIONED = ['/usr/lib/postgresql', '/opt/homebrew/opt', '/usr/local/opt', 'C:\\Program Files\\PostgreSQL'];
/** Where others do, among much else. */
const PREFIXED = { folder: '/usr', prefix: 'pgsql-' };

/**
 * PostgreSQL's own program, the oldest of those here that will do: none works with a server newer than itself.
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

/** Oldest first. */
export function programsHere(name: ProgramName): PostgresProgram[] {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), ...versionedFolders()];
  const programs = [...new Set(folders)]
    .map((folder) => join(folder, process.platform === 'win32' ? `${name}.exe` : name))
    .filter((path) => existsSync(path))
    .flatMap((path) => {
      const { stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' });
      const version = Number(/\) (\d+)/.exec(stdout ?? '')?.[1]);
      return version > 0 ? [{ path, version }] : [];
    });
  return programs.toSorted((one, other) => one.version - other.version);
}

function versionedFolders(): string[] {
  const within = (folder: string, prefix = ''): string[] =>
    existsSync(folder)
      ? readdirSync(folder)
          .filter((version) => version.startsWith(prefix))
          .map((version) => join(folder, version, 'bin'))
      : [];
  return [...VERSIONED.flatMap((it) => within(it)), ...within(PREFIXED.folder, PREFIXED.prefix)];
}

/**
 * Runs one of them to its end, on a database where a URL is given. Its password is told in the environment, which no
 * other user reads.
 * @returns what it wrote
 * @throws CommandError with what it said where it failed; the signal's reason, once it has ended, where that stopped it
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
    env: { ...process.env, LC_ALL: 'C', ...connection.env },
    // Ctrl-C comes to a terminal's whole group of processes: this one is told by us.
    detached: process.platform !== 'win32',
  });
  const stop = (): void => void child.kill('SIGTERM');
  signal.addEventListener('abort', stop, { once: true });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (out += chunk));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('close', resolve);
    child.once('error', (error) => reject(new CommandError(`${path}: ${error.message}`, EXIT.failed)));
  });
  signal.removeEventListener('abort', stop);
  if (code === 0) return out;
  signal.throwIfAborted();
  throw new CommandError(err.trim() || `${path} ended with ${code}`, EXIT.failed);
}

/** A URL as libpq is told it: its password apart, and without what only node-postgres knows. */
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
