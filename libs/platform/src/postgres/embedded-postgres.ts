import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { type ClusterHome, clusterHome } from './cluster-home.js';
import { ensureCluster, SUPERUSER } from './cluster.js';
import { withHomeLock } from './home-lock.js';
import { postgresPrograms, type PostgresPrograms } from './postgres-programs.js';
import { postmasterState, readPostmasterFile } from './postmaster-file.js';
import { type ServerAccount, serverAccount } from './server-account.js';
import { requestStop } from './server-process.js';
import { runningServer } from './running-server.js';

export interface EmbeddedPostgresOptions {
  /** The service's data directory; PostgreSQL's files lie in `postgres/` below it. */
  dataDir: string;
  /** Told when the server has died and is being started again. */
  onRevival?: (problem?: Error) => void;
}

const DATABASE = 'parley';
const START_LOCK_WAIT_MS = 120_000;
const STOP_LOCK_WAIT_MS = 10_000;
const LAST_SESSIONS_WAIT_MS = 500;
const STOP_WAIT_MS = 15_000;
const POLL_MS = 25;
const REVIVAL_PAUSE_MS = 1_000;

/**
 * A PostgreSQL server of our own, from the programs that npm installed, for as long as some local process uses it.
 *
 * Starting is adopting: a server that runs on the data directory already (another process started it, or its starter
 * was killed) is used as it is. Any number of local processes may start and stop at once. The port survives restarts.
 * A server that dies while in use is started again on the same port. As root it runs under another account
 * (`serverAccount`). Loopback only, with a password that only this account can read.
 */
export class EmbeddedPostgres {
  private stopping = false;
  private revival: Promise<void> | undefined;
  private session!: pg.Client;
  private port!: number;

  private constructor(
    private readonly home: ClusterHome,
    private readonly programs: PostgresPrograms,
    private readonly account: ServerAccount | undefined,
    private readonly password: string,
    private readonly onRevival: (problem?: Error) => void,
  ) {}

  /** Throws `PostgresRefusal` where the operator must change something first. */
  static async start(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
    const account = serverAccount();
    const home = clusterHome(options.dataDir, account);
    const programs = postgresPrograms(account, home.directory);
    return withHomeLock(home.lockFile, START_LOCK_WAIT_MS, async () => {
      const password = await ensureCluster(home, programs, account);
      const server = new EmbeddedPostgres(home, programs, account, password, options.onRevival ?? (() => undefined));
      await server.join();
      await server.ensureDatabase();
      return server;
    });
  }

  /** The connection string of the service's database, with a superuser who may create others. */
  get url(): string {
    return `postgres://${SUPERUSER}:${this.password}@127.0.0.1:${this.port}/${DATABASE}`;
  }

  /** Gives the server up; stops it if nobody else has a session. Close your own sessions first. Idempotent. */
  async stop(): Promise<void> {
    if (this.stopping) return;
    this.stopping = true;
    await this.revival;
    await withHomeLock(this.home.lockFile, STOP_LOCK_WAIT_MS, async () => {
      const last = await this.isLastUser();
      await this.session.end().catch(() => undefined);
      if (last) await this.stopServer();
    });
  }

  /** Connects to the server of the data directory, starting it where there is none. The caller holds the lock. */
  private async join(): Promise<void> {
    const server = await runningServer(this.home, this.programs, this.account, this.password, this.port);
    this.session = server.session;
    this.port = server.port;
    this.session.once('end', () => this.revive());
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
        return await withHomeLock(this.home.lockFile, START_LOCK_WAIT_MS, () => this.join());
      } catch (problem) {
        this.onRevival(problem as Error);
        await delay(REVIVAL_PAUSE_MS, undefined, { ref: false });
      }
    }
  }

  private async ensureDatabase(): Promise<void> {
    const { rowCount } = await this.session.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE]);
    if (rowCount === 0) await this.session.query(`CREATE DATABASE ${DATABASE}`);
  }

  /** A backend outlives its client by a few milliseconds, so sessions that we have just closed get a moment to go. */
  private async isLastUser(): Promise<boolean> {
    const deadline = Date.now() + LAST_SESSIONS_WAIT_MS;
    try {
      for (;;) {
        const { rowCount } = await this.session.query(
          `SELECT 1 FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() LIMIT 1`,
        );
        if (rowCount === 0) return true;
        if (Date.now() > deadline) return false;
        await delay(POLL_MS);
      }
    } catch {
      return false;
    }
  }

  private async stopServer(): Promise<void> {
    const postmaster = readPostmasterFile(this.home.cluster);
    if (!postmaster) return;
    await requestStop(postmaster.pid, this.home, this.programs);
    const deadline = Date.now() + STOP_WAIT_MS;
    while (Date.now() < deadline && isRunning(this.home.cluster)) await delay(POLL_MS);
  }
}

function isRunning(cluster: string): boolean {
  const postmaster = readPostmasterFile(cluster);
  return postmaster !== undefined && postmasterState(postmaster.pid, cluster) === 'running';
}
