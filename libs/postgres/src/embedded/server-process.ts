import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readSync, renameSync, fstatSync, statSync } from 'node:fs';
import { promisify } from 'node:util';
import type { ClusterHome } from './cluster-home.js';
import type { PostgresPrograms } from './postgres-programs.js';
import type { ServerAccount } from './server-account.js';
import { isSocket, LOOPBACK, type ServerAddress } from './server-address.js';

const MAX_LOG_BYTES = 10 * 1024 ** 2;
const TAIL_BYTES = 2_000;

const SETTINGS: Record<string, string> = {
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
  // A server that recovers by itself on a full disk may never end that (seen with 18.4). It ends, and Parley restarts it.
  restart_after_crash: 'off',
};

/**
 * Settings of a server that root runs under another account (see serverAccount): shared memory lies in files of the
 * data directory, since other processes of the account could open segments in `/dev/shm`.
 */
const LENT_ACCOUNT_SETTINGS: Record<string, string> = { dynamic_shared_memory_type: 'mmap' };

/** Returns the settings for a socket, or for a port of this machine; never for both, and never for another address. */
function listenOn(address: ServerAddress): Record<string, string> {
  if (!isSocket(address)) return { listen_addresses: LOOPBACK, unix_socket_directories: '' };
  return {
    listen_addresses: '',
    unix_socket_directories: `"${address.host.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0700',
  };
}

/**
 * Starts PostgreSQL in a separate session, so that neither Ctrl-C nor the death of this process reaches it. Its output
 * goes to the home's log file.
 */
export function spawnServer(
  home: ClusterHome,
  programs: PostgresPrograms,
  account: ServerAccount | undefined,
  address: ServerAddress,
): ChildProcess {
  const log = openLog(home.logFile);
  const settings = Object.entries({ ...SETTINGS, ...listenOn(address), ...(account && LENT_ACCOUNT_SETTINGS) });
  const options = settings.flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  try {
    const server = spawn(programs.postgres, ['-D', home.cluster, '-p', String(address.port), ...options], {
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

/**
 * Requests a "fast" shutdown: the server ends its sessions and writes all data.
 * @param pid process number of the postmaster
 */
export async function requestStop(pid: number, home: ClusterHome, programs: PostgresPrograms): Promise<void> {
  if (process.platform === 'win32')
    await promisify(execFile)(programs.pgCtl, ['stop', '-D', home.cluster, '-m', 'fast', '-W']);
  else process.kill(pid, 'SIGINT');
}

/**
 * Requests a reload of settings and access rules; existing sessions stay.
 * @param pid process number of the postmaster
 */
export async function requestReload(pid: number, home: ClusterHome, programs: PostgresPrograms): Promise<void> {
  if (process.platform === 'win32') await promisify(execFile)(programs.pgCtl, ['reload', '-D', home.cluster]);
  else process.kill(pid, 'SIGHUP');
}

/** Returns a minimal environment, since the caller's variables could change the server's locale and settings. */
export function serverEnvironment(): NodeJS.ProcessEnv {
  const { PATH, SystemRoot, TEMP } = process.env;
  return process.platform === 'win32' ? { PATH, SystemRoot, TEMP } : { PATH, LC_ALL: 'C', TZ: 'UTC' };
}

/** Returns the last lines of the server's log, for an error message. */
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
