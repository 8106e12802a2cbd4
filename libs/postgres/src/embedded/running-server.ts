import { type ChildProcess, execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { Backoff } from '#libs/service';
import { ScramClient } from '../database/connection-options.js';
import { SESSIONS_OF_PROCESS } from '../database/watched-client.js';
import type { ClusterPlacement } from './cluster-home.js';
import { ensureAccessRules, SUPERUSER } from './cluster.js';
import type { PostgresPrograms } from './postgres-programs.js';
import { databaseUrl, keepAddress, type ServerAddress } from './server-address.js';
import { logTail, requestReload, requestStop, spawnServer } from './server-process.js';

/** Content of `postmaster.pid` in PostgreSQL's data directory. */
interface PostmasterFile {
  pid: number;
  /** Address of the server; absent until the server listens. */
  address?: ServerAddress;
}

/** Reads `postmaster.pid`; returns `undefined` if no server has claimed the data directory. */
export function readPostmasterFile(cluster: string): PostmasterFile | undefined {
  try {
    const lines = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n');
    const [pid, port, folder, host] = [Number(lines[0]), Number(lines[3]), lines[4], lines[5]];
    const listening = folder || host;
    return { pid, ...(listening && port > 0 && { address: { host: listening, port } }) };
  } catch {
    return undefined;
  }
}

/**
 * State of the process whose number `postmaster.pid` names:
 * - `running`: the process is a PostgreSQL of this data directory.
 * - `zombie`: the process has ended, but its parent has not reaped it.
 * - `other`: an unrelated process has the number by now.
 * - `gone`: no process has the number.
 */
type PostmasterState = 'running' | 'zombie' | 'other' | 'gone';

function postmasterState(pid: number, cluster: string): PostmasterState {
  if (!isAlive(pid)) return 'gone';
  if (process.platform === 'linux') return linuxState(pid, cluster);
  if (process.platform === 'win32') return 'running';
  return psState(pid, cluster);
}

/**
 * Replaces the process number of an ended server by a number that no process can have. PostgreSQL refuses a data
 * directory while a process with the old number exists, even a zombie, or an unrelated process after a reboot. After
 * the replacement, PostgreSQL checks instead whether the old server's shared memory is still in use.
 */
function disownPostmasterFile(cluster: string): void {
  const path = join(cluster, 'postmaster.pid');
  const [, ...rest] = readFileSync(path, 'utf8').split('\n');
  writeFileSync(path, [String(IMPOSSIBLE_PID), ...rest].join('\n'));
}

/** Process number beyond the largest one of any kernel (2^22 on Linux), within PostgreSQL's `int`. */
const IMPOSSIBLE_PID = 2_147_483_646;

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function linuxState(pid: number, cluster: string): PostmasterState {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, 'utf8');
    if (/^\d+ \(.*\) [ZX]/s.test(status)) return 'zombie';
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    return words.includes(cluster) ? 'running' : 'other';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'gone' : 'running';
  }
}

function psState(pid: number, cluster: string): PostmasterState {
  try {
    const line = execFileSync('ps', ['-o', 'stat=,command=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    if (line.startsWith('Z')) return 'zombie';
    return line.includes(cluster) ? 'running' : 'other';
  } catch {
    return 'running';
  }
}

/**
 * Maximum milliseconds until a server accepts connections. Crash recovery replays at most a gigabyte of log
 * (`max_wal_size`), which takes less.
 */
const READY_WAIT_MS = 120_000;
/**
 * Maximum milliseconds that the start of a server is attempted again. PostgreSQL refuses to start while the shared
 * memory of a killed server is in use: until the last process of that server has noticed its end and exited.
 */
const REFUSAL_WAIT_MS = 10_000;
const STOP_WAIT_MS = 15_000;
const POLL_MS = 25;
/** Pauses between these attempts. Each attempt costs the start of a server. */
const REFUSAL_PAUSES = new Backoff(250, 2_000);
const CONNECT_TIMEOUT_MS = 5_000;

/** Name of the session that shows that this process uses the embedded server. */
const SUPERVISOR = `${SESSIONS_OF_PROCESS}:supervisor`;

/** Files, account, programs and password that a server is started with. */
export interface ServerSetup extends ClusterPlacement {
  programs: PostgresPrograms;
  /** Password of the superuser. */
  password: string;
}

export interface RunningServer {
  address: ServerAddress;
  /** Superuser's session on the maintenance database. Its errors are swallowed: watch its `end`. */
  session: pg.Client;
}

/**
 * Returns the running server of the data directory, whatever its address. If none runs, starts one at the given
 * address. The caller holds the data directory's lock (`withHomeLock`).
 * @throws Error with the end of the server's log if the server does not start
 */
export async function runningServer(
  setup: ServerSetup,
  address: () => ServerAddress | Promise<ServerAddress>,
): Promise<RunningServer> {
  const { home, programs, account } = setup;
  const refusedAfter = Date.now() + REFUSAL_WAIT_MS;
  for (let attempts = 0; ; attempts += 1) {
    const found = runningPostmaster(home.cluster);
    if (ensureAccessRules(home, account) && found) await requestReload(found.pid, home, programs);
    const child = found ? undefined : spawnServer(home, programs, account, await address());
    const server = await orEndedWithProcess(child, whenReady(setup, child));
    if (server) {
      keepAddress(home, server.address);
      return server;
    }
    if (Date.now() > refusedAfter)
      throw new Error(`PostgreSQL does not start. The end of ${home.logFile}:\n${logTail(home)}`);
    await delay(REFUSAL_PAUSES.pauseAfter(attempts));
  }
}

/** Returns the running server of the data directory once it accepts connections; `undefined` if none runs. */
export async function findRunningServer(setup: ServerSetup): Promise<RunningServer | undefined> {
  return runningPostmaster(setup.home.cluster) && whenReady(setup, undefined);
}

/**
 * Stops the server in order, and waits a limited time for its end. The caller holds the data directory's lock
 * (`withHomeLock`).
 */
export async function stopServer({ home, programs }: ServerSetup): Promise<void> {
  const postmaster = readPostmasterFile(home.cluster);
  if (!postmaster) return;
  await requestStop(postmaster.pid, home, programs);
  const deadline = Date.now() + STOP_WAIT_MS;
  // The server's files, including `postmaster.pid`, disappear a moment before the process.
  while (Date.now() < deadline && postmasterState(postmaster.pid, home.cluster) === 'running') await delay(POLL_MS);
}

function runningPostmaster(cluster: string): PostmasterFile | undefined {
  const file = readPostmasterFile(cluster);
  if (!file) return undefined;
  const state = postmasterState(file.pid, cluster);
  if (state === 'zombie' || state === 'other') disownPostmasterFile(cluster);
  return state === 'running' ? file : undefined;
}

/**
 * Awaits `ready`. If this process exits meanwhile, the server in `child`, which no other process uses yet, is stopped.
 */
async function orEndedWithProcess<T>(child: ChildProcess | undefined, ready: Promise<T>): Promise<T> {
  const interruptChild = (): void => void child?.kill('SIGINT');
  process.once('exit', interruptChild);
  try {
    return await ready;
  } finally {
    process.off('exit', interruptChild);
  }
}

/** Waits until the server accepts connections; returns `undefined` once it has ended. */
async function whenReady(setup: ServerSetup, child: ChildProcess | undefined): Promise<RunningServer | undefined> {
  const { cluster } = setup.home;
  let ended = false;
  child?.once('exit', () => (ended = true));
  child?.once('error', () => (ended = true));
  const deadline = Date.now() + READY_WAIT_MS;
  while (!ended && Date.now() < deadline) {
    const file = readPostmasterFile(cluster);
    if (!child && (!file || postmasterState(file.pid, cluster) !== 'running')) return undefined;
    const address = !child || file?.pid === child.pid ? file?.address : undefined;
    const session = address && (await tryConnect(setup, address));
    if (session) return { address, session };
    await delay(POLL_MS);
  }
  return undefined;
}

async function tryConnect({ home, password }: ServerSetup, address: ServerAddress): Promise<pg.Client | undefined> {
  const session = new ScramClient({
    connectionString: databaseUrl(address, SUPERUSER, password, 'postgres'),
    application_name: SUPERVISOR,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
  });
  session.on('error', () => undefined);
  try {
    await session.connect();
    const { rows } = await session.query<{ data_directory: string }>('SHOW data_directory');
    if (rows[0]?.data_directory === home.cluster) return session;
  } catch {
    // The server is not ready, or another server took the port: the caller tries again.
  }
  await session.end().catch(() => undefined);
  return undefined;
}

/** Maximum milliseconds until a closed session has ended: a backend outlives its client by a moment. */
const LAST_SESSIONS_WAIT_MS = 500;

/**
 * Finds a session that uses the server, other than the session that runs this query. Of the sessions of this process,
 * only those named SUPERVISOR count, since a failed start leaves sessions open that cannot be closed.
 */
const OTHER_SESSIONS = `
  SELECT FROM pg_stat_activity
  WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
    AND (application_name = $2 OR application_name <> $1 AND NOT starts_with(application_name, $1 || ':'))
  LIMIT 1`;

/**
 * True if no other session uses the server.
 * @param ended name of the sessions of a killed process, which do not count even while their backends are still at work
 */
export async function isOnlySession(session: pg.Client, ended?: string): Promise<boolean> {
  const deadline = Date.now() + LAST_SESSIONS_WAIT_MS;
  const named = ended === undefined ? [SESSIONS_OF_PROCESS, SUPERVISOR] : [ended, ''];
  try {
    for (;;) {
      const { rowCount } = await session.query(OTHER_SESSIONS, named);
      if (rowCount === 0) return true;
      if (Date.now() > deadline) return false;
      await delay(POLL_MS);
    }
  } catch {
    return false;
  }
}
