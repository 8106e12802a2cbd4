import type { ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { ClusterHome } from './cluster-home.js';
import { SUPERUSER } from './cluster.js';
import { keepPort, keptPort } from './local-port.js';
import type { PostgresPrograms } from './postgres-programs.js';
import { disownPostmasterFile, postmasterState, readPostmasterFile } from './postmaster-file.js';
import type { ServerAccount } from './server-account.js';
import { logTail, spawnServer } from './server-process.js';

/** Crash recovery replays at most a gigabyte of log (`max_wal_size`): well within this. */
const READY_WAIT_MS = 120_000;
/** A server that was killed keeps its shared memory in use until its last process has noticed. */
const REFUSAL_WAIT_MS = 10_000;
const POLL_MS = 25;
const RETRY_MS = 250;
const CONNECT_TIMEOUT_MS = 5_000;

export interface RunningServer {
  port: number;
  /** A superuser's session on the maintenance database. Its errors are swallowed: watch its `end`. */
  session: pg.Client;
}

/**
 * The server of the data directory: the one that runs, or a new one. `fixedPort` is a port that clients hold already;
 * without it the kept port is used, or another where that one is taken. The caller holds the home's lock.
 */
export async function runningServer(
  home: ClusterHome,
  programs: PostgresPrograms,
  account: ServerAccount | undefined,
  password: string,
  fixedPort: number | undefined,
): Promise<RunningServer> {
  const refusedAfter = Date.now() + REFUSAL_WAIT_MS;
  for (;;) {
    const found = runningPostmaster(home.cluster);
    const child = found
      ? undefined
      : spawnServer(home, programs, account, fixedPort ?? (await keptPort(home.portFile)));
    const server = await whenReady(home, password, child);
    if (server) {
      keepPort(home.portFile, server.port);
      return server;
    }
    if (Date.now() > refusedAfter)
      throw new Error(`PostgreSQL does not start. The end of ${home.logFile}:\n${logTail(home)}`);
    await delay(RETRY_MS);
  }
}

function runningPostmaster(cluster: string): boolean {
  const file = readPostmasterFile(cluster);
  if (!file) return false;
  const state = postmasterState(file.pid, cluster);
  if (state === 'zombie' || state === 'other') disownPostmasterFile(cluster);
  return state === 'running';
}

/** `undefined` once the server has ended. */
async function whenReady(
  home: ClusterHome,
  password: string,
  child: ChildProcess | undefined,
): Promise<RunningServer | undefined> {
  let ended = false;
  child?.once('exit', () => (ended = true));
  child?.once('error', () => (ended = true));
  const deadline = Date.now() + READY_WAIT_MS;
  while (!ended && Date.now() < deadline) {
    const file = readPostmasterFile(home.cluster);
    if (!child && (!file || postmasterState(file.pid, home.cluster) !== 'running')) return undefined;
    const ours = file && (!child || file.pid === child.pid);
    const session = ours && file.port > 0 ? await tryConnect(home, password, file.port) : undefined;
    if (session) return { port: file!.port, session };
    await delay(POLL_MS);
  }
  return undefined;
}

async function tryConnect(home: ClusterHome, password: string, port: number): Promise<pg.Client | undefined> {
  const session = new pg.Client({
    host: '127.0.0.1',
    port,
    user: SUPERUSER,
    password,
    database: 'postgres',
    application_name: `parley:${process.pid}:supervisor`,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
  });
  session.on('error', () => undefined);
  try {
    await session.connect();
    const { rows } = await session.query<{ data_directory: string }>('SHOW data_directory');
    if (rows[0]?.data_directory === home.cluster) return session;
  } catch {
    // Not ready yet, or another server took the port: the caller looks again.
  }
  await session.end().catch(() => undefined);
  return undefined;
}
