import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { SESSIONS_OF_PROCESS } from '../database/watched-client.js';
import { prepareCluster } from './cluster-home.js';
import { ensureCluster, SUPERUSER } from './cluster.js';
import { withHomeLock } from './home-lock.js';
import { installedMajorVersion, postgresPrograms } from './postgres-programs.js';
import { accountWarning } from './server-account.js';
import {
  databaseUrl,
  isSocket,
  type Listening,
  newAddress,
  reclaimAddress,
  type ServerAddress,
  usualListening,
} from './server-address.js';
import { runningServer, type ServerSetup, stopServer, SUPERVISOR } from './running-server.js';
import { removeShortFolder } from './socket-folder.js';

export interface EmbeddedPostgresOptions {
  /** The service's data directory; PostgreSQL's files lie in `postgres/` below it. */
  dataDir: string;
  /** What a server that is started here listens on; a Unix socket unless the system has none (Windows). */
  listening?: Listening;
  /** Told when the server has died and is being started again. */
  onRevival?: (problem?: Error) => void;
  /** Told what the operator had better change. */
  onWarning?: (warning: string) => void;
}

const DATABASE = 'parley';
const START_LOCK_WAIT_MS = 120_000;
const STOP_LOCK_WAIT_MS = 10_000;
const LAST_SESSIONS_WAIT_MS = 500;
const POLL_MS = 25;
const REVIVAL_PAUSE_MS = 1_000;

/**
 * A PostgreSQL server of our own, from the programs that npm installed, for as long as some local process uses it.
 *
 * Starting is adopting: a server that runs on the data directory already (another process started it, or its starter
 * was killed) is used as it is. Any number of local processes may start and stop at once. The address survives
 * restarts. A server that dies while in use is started again at the same address. As root it runs under another
 * account (`serverAccount`). It listens on a Unix socket that no other user reaches, or where there are none on
 * loopback; with a password that only this account can read and that no server is told (`ScramClient`).
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

  /** Of the server that npm installed here. Throws `PostgresRefusal` where there is none. */
  static majorVersion(): number {
    return Number(installedMajorVersion());
  }

  /** Throws `PostgresRefusal` where the operator must change something first. Leaves no server behind when it throws. */
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
      await server.join();
      await server.ensureDatabase();
      return server;
    });
  }

  /** The connection string of the service's database, with a superuser who may create others. */
  get url(): string {
    return databaseUrl(this.address!, SUPERUSER, this.setup.password, DATABASE);
  }

  /**
   * Gives the server up; stops it if nobody else has a session. Those of this process count only where another one of
   * these holds the server: what is left of them ends with it. Idempotent.
   */
  stop(): Promise<void> {
    return (this.stopped ??= this.giveUp());
  }

  private async giveUp(): Promise<void> {
    this.stopping = true;
    await this.revival;
    await withHomeLock(this.setup.home.lockFile, STOP_LOCK_WAIT_MS, () => this.leave());
  }

  /** Connects to the server of the data directory, starting it where there is none. The caller holds the lock. */
  private async join(): Promise<void> {
    let server = await runningServer(this.setup, () => this.wantedAddress());
    if (await this.isOutdated(server)) {
      await server.session.end().catch(() => undefined);
      await stopServer(this.setup);
      server = await runningServer(this.setup, () => this.wantedAddress());
    }
    this.session = server.session;
    this.address = server.address;
    this.session.once('end', () => this.revive());
  }

  private wantedAddress(): ServerAddress | Promise<ServerAddress> {
    const { home, account } = this.setup;
    if (this.address) return reclaimAddress(this.address, account);
    return newAddress(home, account, this.listening);
  }

  /** A server that an earlier version left behind on a port moves to the socket, once nobody else uses it. */
  private async isOutdated({ address, session }: { address: ServerAddress; session: pg.Client }): Promise<boolean> {
    if (this.address || this.listening !== 'socket' || isSocket(address)) return false;
    return isOnlySession(session);
  }

  /** This session is how other processes see that the server is in use, and how this one sees that it died. */
  private revive(): void {
    if (this.stopping) return;
    this.onRevival();
    this.revival ??= this.reviveUntilJoined().finally(() => (this.revival = undefined));
  }

  private async reviveUntilJoined(): Promise<void> {
    while (!this.stopping) {
      try {
        return await withHomeLock(this.setup.home.lockFile, START_LOCK_WAIT_MS, () => this.join());
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
      await this.leave();
      throw error;
    }
  }

  /** The caller holds the lock. */
  private async leave(): Promise<void> {
    const last = await isOnlySession(this.session);
    await this.session.end().catch(() => undefined);
    if (!last) return;
    await stopServer(this.setup);
    removeShortFolder(this.setup.home);
  }
}

/** A start that fails leaves sessions that nobody can close any more: only whoever holds the server counts there. */
const OTHER_SESSIONS = `
  SELECT FROM pg_stat_activity
  WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
    AND (application_name = $2 OR application_name <> $1 AND NOT starts_with(application_name, $1 || ':'))
  LIMIT 1`;

/**
 * Whether nobody else uses the server. A backend outlives its client by a few milliseconds, so sessions that have just
 * been closed get a moment to go.
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
