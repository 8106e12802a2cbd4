import type { ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { SESSIONS_OF_PROCESS } from '../database/watched-client.js';
import { ScramClient } from '../database/scram-client.js';
import type { ClusterPlacement } from './cluster-home.js';
import { ensureAccessRules, SUPERUSER } from './cluster.js';
import type { PostgresPrograms } from './postgres-programs.js';
import { disownPostmasterFile, type PostmasterFile, postmasterState, readPostmasterFile } from './postmaster-file.js';
import { databaseUrl, keepAddress, type ServerAddress } from './server-address.js';
import { logTail, requestReload, requestStop, spawnServer } from './server-process.js';

/** Crash recovery replays at most a gigabyte of log (`max_wal_size`): well within this. */
const READY_WAIT_MS = 120_000;
/** A server that was killed keeps its shared memory in use until its last process has noticed. */
const REFUSAL_WAIT_MS = 10_000;
const STOP_WAIT_MS = 15_000;
const POLL_MS = 25;
const RETRY_MS = 250;
const CONNECT_TIMEOUT_MS = 5_000;

/** What the sessions are called that hold a server of this process. */
export const SUPERVISOR = `${SESSIONS_OF_PROCESS}:supervisor`;

/** Everything that a server is started from. */
export interface ServerSetup extends ClusterPlacement {
  programs: PostgresPrograms;
  /** The superuser's. */
  password: string;
}

export interface RunningServer {
  address: ServerAddress;
  /** A superuser's session on the maintenance database. Its errors are swallowed: watch its `end`. */
  session: pg.Client;
}

/**
 * The server of the data directory: the one that runs, wherever it listens, or a new one at the address that is asked
 * for then. The caller holds the home's lock.
 */
export async function runningServer(
  setup: ServerSetup,
  address: () => ServerAddress | Promise<ServerAddress>,
): Promise<RunningServer> {
  const { home, programs, account } = setup;
  const refusedAfter = Date.now() + REFUSAL_WAIT_MS;
  for (;;) {
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
    await delay(RETRY_MS);
  }
}

/** Stops the server in order, and waits a while for its end. The caller holds the home's lock. */
export async function stopServer({ home, programs }: ServerSetup): Promise<void> {
  const postmaster = readPostmasterFile(home.cluster);
  if (!postmaster) return;
  await requestStop(postmaster.pid, home, programs);
  const deadline = Date.now() + STOP_WAIT_MS;
  // Its own files, this one among them, are gone a moment before the process is.
  while (Date.now() < deadline && postmasterState(postmaster.pid, home.cluster) === 'running') await delay(POLL_MS);
}

function runningPostmaster(cluster: string): PostmasterFile | undefined {
  const file = readPostmasterFile(cluster);
  if (!file) return undefined;
  const state = postmasterState(file.pid, cluster);
  if (state === 'zombie' || state === 'other') disownPostmasterFile(cluster);
  return state === 'running' ? file : undefined;
}

/** A server that is still starting has no other user yet: it ends with the process, where that does not wait for it. */
async function orEndedWithProcess<T>(child: ChildProcess | undefined, ready: Promise<T>): Promise<T> {
  const end = (): void => void child?.kill('SIGINT');
  process.once('exit', end);
  try {
    return await ready;
  } finally {
    process.off('exit', end);
  }
}

/** `undefined` once the server has ended. */
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
    // Not ready yet, or another server took the port: the caller looks again.
  }
  await session.end().catch(() => undefined);
  return undefined;
}
