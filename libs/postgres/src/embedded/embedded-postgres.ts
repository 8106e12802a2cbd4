import type pg from 'pg';
import { Backoff } from '#libs/service';
import { SESSIONS_OF_PROCESS } from '../database/watched-client.js';
import { prepareCluster } from './cluster-home.js';
import { ensureCluster, SUPERUSER } from './cluster.js';
import { withHomeLock } from './home-lock.js';
import { installedMajorVersion, postgresPrograms } from './postgres-programs.js';
import { isOnlySession, runningServer, type ServerSetup, stopServer } from './running-server.js';
import { accountWarning } from './server-account.js';
import { guardServer, type ServerGuard } from './server-guard.js';
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
/** Pauses between attempts to restart a server, for example while its disk is full. */
const REVIVAL_PAUSES = new Backoff(1_000, 30_000);

/**
 * PostgreSQL server from the programs that npm installed; it runs while at least one local process uses it.
 *
 * - A server that already runs on the data directory is adopted, even if another process started it.
 * - A server whose last user was killed is stopped (`ServerGuard`).
 * - Any number of local processes may start and stop concurrently.
 * - The address survives restarts. A server that dies while in use is restarted at the same address.
 * - If Parley runs as root, the server runs under another account (`serverAccount`).
 * - The server listens on a Unix socket that no other user reaches, or on loopback. It requires a password that only
 *   Parley's account can read, and that is never sent to a server (`ScramClient`).
 */
export class EmbeddedPostgres {
  /** Controller whose signal `stop` aborts. */
  private readonly leaving = new AbortController();
  private stopped: Promise<void> | undefined;
  private revival: Promise<void> | undefined;
  private session!: pg.Client;
  private address: ServerAddress | undefined;

  private constructor(
    private readonly setup: ServerSetup,
    private readonly listening: Listening,
    private readonly onRevival: (problem?: Error) => void,
    private readonly guard: ServerGuard,
  ) {}

  /** Returns the major version of the server that npm installed. @throws PostgresRefusal if there is none */
  static majorVersion(): number {
    return Number(installedMajorVersion());
  }

  /**
   * Starts or adopts the server. If it throws, no server that it started keeps running.
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
      const guard = guardServer(setup, SESSIONS_OF_PROCESS);
      const server = new EmbeddedPostgres(
        setup,
        options.listening ?? usualListening(),
        options.onRevival ?? (() => undefined),
        guard,
      );
      try {
        await server.joinServer();
        await server.ensureDatabase();
        return server;
      } catch (error) {
        guard.dismiss();
        throw error;
      }
    });
  }

  /** Connection string of the service's database, with a superuser who may create other databases. */
  get url(): string {
    return databaseUrl(this.address!, SUPERUSER, this.setup.password, DATABASE);
  }

  /**
   * Releases the server. Stops the server unless another process, or another EmbeddedPostgres of this process, uses it.
   * Other sessions of this process do not keep the server running; they end with it. Idempotent.
   */
  stop(): Promise<void> {
    return (this.stopped ??= this.releaseServer());
  }

  private async releaseServer(): Promise<void> {
    this.leaving.abort();
    await this.revival;
    await withHomeLock(this.setup.home.lockFile, STOP_LOCK_WAIT_MS, () => this.leaveServer());
    this.guard.dismiss();
  }

  /**
   * Connects to the server of the data directory, and starts it if necessary. The caller holds the directory's lock
   * (`withHomeLock`).
   */
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
   * True if the caller should restart the server on a socket: an earlier version started it on a port, and no session
   * besides this one uses it.
   */
  private async isOutdated({ address, session }: { address: ServerAddress; session: pg.Client }): Promise<boolean> {
    if (this.address || this.listening !== 'socket' || isSocket(address)) return false;
    return isOnlySession(session);
  }

  /**
   * Restarts the server after the end of `this.session`, by which this process notices that the server has died. Other
   * processes see from that session that the server is in use.
   */
  private reviveServer(): void {
    if (this.leaving.signal.aborted) return;
    this.onRevival();
    this.revival ??= this.reviveUntilJoined().finally(() => (this.revival = undefined));
  }

  /** Restarts or adopts the server, after longer and longer pauses, until it runs or `stop` is called. */
  private async reviveUntilJoined(): Promise<void> {
    const { signal } = this.leaving;
    const joinLocked = (): Promise<void> =>
      withHomeLock(this.setup.home.lockFile, START_LOCK_WAIT_MS, () => this.joinServer());
    const reportProblem = (problem: unknown): true => {
      this.onRevival(problem as Error);
      return true;
    };
    await REVIVAL_PAUSES.retryWhile(joinLocked, reportProblem, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }

  private async ensureDatabase(): Promise<void> {
    try {
      const { rowCount } = await this.session.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE]);
      if (rowCount === 0) await this.session.query(`CREATE DATABASE ${DATABASE}`);
    } catch (error) {
      this.leaving.abort();
      await this.leaveServer();
      throw error;
    }
  }

  /**
   * Ends the session, and also the server if no other session uses it. The caller holds the data directory's lock
   * (`withHomeLock`).
   */
  private async leaveServer(): Promise<void> {
    const last = await isOnlySession(this.session);
    await this.session.end().catch(() => undefined);
    if (!last) return;
    await stopServer(this.setup);
    removeShortFolder(this.setup.home);
  }
}
