import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readSync, renameSync, fstatSync, statSync } from 'node:fs';
import { promisify } from 'node:util';
import type { ClusterHome } from './cluster-home.js';
import type { PostgresPrograms } from './postgres-programs.js';
import type { ServerAccount } from './server-account.js';

const MAX_LOG_BYTES = 10 * 1024 ** 2;
const TAIL_BYTES = 2_000;

const SETTINGS: Record<string, string> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '128MB',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  jit: 'off',
  max_parallel_workers_per_gather: '0',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_min_messages: 'warning',
  log_line_prefix: '%m [%p] ',
};

/**
 * Starts PostgreSQL in a session of its own: neither Ctrl-C nor the death of this process reaches it. Its output goes
 * to the home's log file.
 */
export function spawnServer(
  home: ClusterHome,
  programs: PostgresPrograms,
  account: ServerAccount | undefined,
  port: number,
): ChildProcess {
  const log = openLog(home.logFile);
  const settings = Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  try {
    const server = spawn(programs.postgres, ['-D', home.cluster, '-p', String(port), ...settings], {
      detached: true,
      windowsHide: true,
      stdio: ['ignore', log, log],
      cwd: home.directory,
      env: serverEnvironment(),
      uid: account?.uid,
      gid: account?.gid,
    });
    server.unref();
    return server;
  } finally {
    closeSync(log);
  }
}

/** Asks the server to end its sessions and write everything down ("fast" shutdown). */
export async function requestStop(pid: number, home: ClusterHome, programs: PostgresPrograms): Promise<void> {
  if (process.platform === 'win32')
    await promisify(execFile)(programs.pgCtl, ['stop', '-D', home.cluster, '-m', 'fast', '-W']);
  else process.kill(pid, 'SIGINT');
}

/** The environment of the caller could change the server's locale and settings, so it gets next to none of it. */
export function serverEnvironment(): NodeJS.ProcessEnv {
  const { PATH, SystemRoot, TEMP } = process.env;
  return process.platform === 'win32' ? { PATH, SystemRoot, TEMP } : { PATH, LC_ALL: 'C', TZ: 'UTC' };
}

/** The last lines of the server's log, for an error message. */
export function logTail(home: ClusterHome): string {
  if (!existsSync(home.logFile)) return '';
  const file = openSync(home.logFile, 'r');
  try {
    const size = fstatSync(file).size;
    const buffer = Buffer.alloc(Math.min(size, TAIL_BYTES));
    readSync(file, buffer, 0, buffer.length, size - buffer.length);
    return buffer.toString('utf8').trim();
  } finally {
    closeSync(file);
  }
}

function openLog(path: string): number {
  if (existsSync(path) && statSync(path).size > MAX_LOG_BYTES) renameSync(path, `${path}.1`);
  return openSync(path, 'a', 0o600);
}
