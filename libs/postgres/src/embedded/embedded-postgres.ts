import { readFileSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { SESSIONS_OF_PROCESS } from '../database/watched-client.js';
import { ensurePrivate, prepareCluster } from './cluster-home.js';
import { ensureCluster, SUPERUSER } from './cluster.js';
import { installedMajorVersion, postgresPrograms } from './postgres-programs.js';
import { runningServer, type ServerSetup, stopServer, SUPERVISOR } from './running-server.js';
import { accountWarning } from './server-account.js';
import {
  databaseUrl,
  isSocket,
  type Listening,
  newAddress,
  reclaimAddress,
  removeShortFolder,
  type ServerAddress,
  usualListening,
} from './server-address.js';

const RETRY_MS = 40;
const SQLITE_BUSY = 5;

/**
 * Executes `work` while no other process, and no other caller in this one, holds the same lock file. The lock is that
 * of a writer to an empty SQLite file, since Node has no flock.
 * - The lock belongs to the kernel, so it falls when its holder dies and can never be stale.
 * - Readers of the file, such as a backup, do not block the lock.
 * - The call rejects after `waitMs` without the lock, and names the holder if the system reports it.
 */
export async function withHomeLock<T>(lockFile: string, waitMs: number, work: () => Promise<T>): Promise<T> {
  // The file is never opened otherwise: closing any descriptor of it would release this process's lock.
  ensurePrivate(lockFile);
  const lock = new DatabaseSync(lockFile);
  try {
    const deadline = Date.now() + waitMs;
    while (!tryLock(lock)) {
      if (Date.now() > deadline)
        throw new Error(`${describeHolders(lockFile)} held ${lockFile} for more than ${waitMs} ms`);
      await delay(RETRY_MS);
    }
    return await work();
  } finally {
    lock.close();
  }
}

function tryLock(lock: DatabaseSync): boolean {
  try {
    lock.exec('BEGIN IMMEDIATE');
    return true;
  } catch (error) {
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return false;
    throw error;
  }
}

/**
 * Describes the holders of a lock file, from Linux's list of locks (`/proc/locks`), with lines such as `1: POSIX
 * ADVISORY  WRITE 4711 08:01:131 0 EOF`.
 */
function describeHolders(lockFile: string): string {
  try {
    const { ino } = statSync(lockFile);
    const lines = readFileSync('/proc/locks', 'utf8').split('\n');
    const held = lines.map((line) => line.trim().split(/\s+/)).filter((words) => words[5]?.endsWith(`:${ino}`));
    const pids = [...new Set(held.map((words) => words[4]))];
    if (pids.length > 0) return `Another process (pid ${pids.join(', ')}) has`;
  } catch {
    // Other systems have no such list.
  }
  return 'Another process has';
}

export interface EmbeddedPostgresOptions {
  /** Data directory of the service; PostgreSQL's files lie in `postgres/` below it. */
  dataDir: string;
  /** Kind of address for a server that this process starts. Absent: a Unix socket, or loopback on Windows. */
  listening?: Listening;
  /** Called when the server has died and is being restarted, and again with the `problem` of each failed attempt. */
  onRevival?: (problem?: Error) => void;
  /** Called with advice for the operator, in one sentence. */
  onWarning?: (warning: string) => void;
}

const DATABASE = 'parley';
const START_LOCK_WAIT_MS = 120_000;
const STOP_LOCK_WAIT_MS = 10_000;
const LAST_SESSIONS_WAIT_MS = 500;
const POLL_MS = 25;
const REVIVAL_PAUSE_MS = 1_000;

/**
 * PostgreSQL server from the programs that npm installed; it runs while at least one local process uses it.
 *
 * - A server that already runs on the data directory is adopted, even if another process started it.
 * - Any number of local processes may start and stop concurrently.
 * - The address survives restarts. A server that dies while in use is restarted at the same address.
 * - If Parley runs as root, the server runs under another account (`serverAccount`).
 * - The server listens on a Unix socket that no other user reaches, or on loopback. It requires a password that only
 *   Parley's account can read, and that is never sent to a server (`ScramClient`).
 */
export class EmbeddedPostgres {
  private stopping = false;
  private stopped: Promise<void> | undefined;
  private revival: Promise<void> | undefined;
  private session!: pg.Client;
  private address: ServerAddress | undefined;

  private constructor(
    private readonly setup: ServerSetup,
    private readonly listening: Listening,
    private readonly onRevival: (problem?: Error) => void,
  ) {}

  /** Returns the major version of the server that npm installed. @throws PostgresRefusal if there is none */
  static majorVersion(): number {
    return Number(installedMajorVersion());
  }

  /**
   * Starts or adopts the server. Leaves no server behind when it throws.
   * @throws PostgresRefusal if the operator must change something first
   */
  static async start(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
    const placement = prepareCluster(options.dataDir);
    const { home, account } = placement;
    const programs = postgresPrograms(account, home.directory);
    const warning = accountWarning(account);
    if (warning !== undefined) options.onWarning?.(warning);
    return withHomeLock(home.lockFile, START_LOCK_WAIT_MS, async () => {
      const setup = { ...placement, programs, password: await ensureCluster(home, programs, account) };
      const server = new EmbeddedPostgres(
        setup,
        options.listening ?? usualListening(),
        options.onRevival ?? (() => undefined),
      );
      await server.joinServer();
      await server.ensureDatabase();
      return server;
    });
  }

  /** Connection string of the service's database, with a superuser who may create other databases. */
  get url(): string {
    return databaseUrl(this.address!, SUPERUSER, this.setup.password, DATABASE);
  }

  /**
   * Releases the server, and stops it if no other session uses it. Sessions of this process count only if another
   * EmbeddedPostgres in it holds the server; its remaining sessions end with the server. Idempotent.
   */
  stop(): Promise<void> {
    return (this.stopped ??= this.releaseServer());
  }

  private async releaseServer(): Promise<void> {
    this.stopping = true;
    await this.revival;
    await withHomeLock(this.setup.home.lockFile, STOP_LOCK_WAIT_MS, () => this.leaveServer());
  }

  /** Connects to the server of the data directory, and starts it if necessary. The caller holds the lock. */
  private async joinServer(): Promise<void> {
    let server = await runningServer(this.setup, () => this.wantedAddress());
    if (await this.isOutdated(server)) {
      await server.session.end().catch(() => undefined);
      await stopServer(this.setup);
      server = await runningServer(this.setup, () => this.wantedAddress());
    }
    this.session = server.session;
    this.address = server.address;
    this.session.once('end', () => this.reviveServer());
  }

  private wantedAddress(): ServerAddress | Promise<ServerAddress> {
    const { home, account } = this.setup;
    if (this.address) return reclaimAddress(this.address, account);
    return newAddress(home, account, this.listening);
  }

  /**
   * True if an earlier version started the server on a port, and no session besides this one uses it. The server is
   * then restarted on a socket.
   */
  private async isOutdated({ address, session }: { address: ServerAddress; session: pg.Client }): Promise<boolean> {
    if (this.address || this.listening !== 'socket' || isSocket(address)) return false;
    return isOnlySession(session);
  }

  /**
   * Restarts the server after the end of `this.session`. That session shows other processes that the server is in use,
   * and its end shows this process that the server died.
   */
  private reviveServer(): void {
    if (this.stopping) return;
    this.onRevival();
    this.revival ??= this.reviveUntilJoined().finally(() => (this.revival = undefined));
  }

  private async reviveUntilJoined(): Promise<void> {
    while (!this.stopping) {
      try {
        return await withHomeLock(this.setup.home.lockFile, START_LOCK_WAIT_MS, () => this.joinServer());
      } catch (problem) {
        this.onRevival(problem as Error);
        await delay(REVIVAL_PAUSE_MS, undefined, { ref: false });
      }
    }
  }

  private async ensureDatabase(): Promise<void> {
    try {
      const { rowCount } = await this.session.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE]);
      if (rowCount === 0) await this.session.query(`CREATE DATABASE ${DATABASE}`);
    } catch (error) {
      this.stopping = true;
      await this.leaveServer();
      throw error;
    }
  }

  /** Ends the session, and the server after its last session. The caller holds the lock. */
  private async leaveServer(): Promise<void> {
    const last = await isOnlySession(this.session);
    await this.session.end().catch(() => undefined);
    if (!last) return;
    await stopServer(this.setup);
    removeShortFolder(this.setup.home);
  }
}

/**
 * Finds a session, other than the asking one, that uses the server. Among the sessions of this process only those named
 * SUPERVISOR count, since a failed start leaves sessions open that cannot be closed.
 */
const OTHER_SESSIONS = `
  SELECT FROM pg_stat_activity
  WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
    AND (application_name = $2 OR application_name <> $1 AND NOT starts_with(application_name, $1 || ':'))
  LIMIT 1`;

/**
 * True if no other session uses the server. A backend outlives its client by a few milliseconds, so recently closed
 * sessions get a moment to end.
 */
async function isOnlySession(session: pg.Client): Promise<boolean> {
  const deadline = Date.now() + LAST_SESSIONS_WAIT_MS;
  try {
    for (;;) {
      const { rowCount } = await session.query(OTHER_SESSIONS, [SESSIONS_OF_PROCESS, SUPERVISOR]);
      if (rowCount === 0) return true;
      if (Date.now() > deadline) return false;
      await delay(POLL_MS);
    }
  } catch {
    return false;
  }
}
