import pg from 'pg';
import { DataSource, type DataSourceOptions } from 'typeorm';
import {
  clientOf,
  CONNECT_TIMEOUT_MS,
  connectionOptions,
  KEEP_ALIVE_DELAY_MS,
  withoutNames,
} from './connection-options.js';
import { assertUtf8 } from './database-encoding.js';
import { isUpToDate, migrate, type MigrationClass, MIGRATIONS } from './migrate.js';
import { ReadOnlySessions, watchedPools } from './read-only-sessions.js';
import { openRepositories, PLAIN_ERRORS } from './repositories.js';
import { SHARED_READS, SharedReads, STATEMENT_MS } from './shared-reads.js';
import { SESSION_SETTINGS } from './session-settings.js';
import { SESSIONS_OF_PROCESS } from './watched-client.js';

export interface DatabaseOptions {
  /** Direct, or pooled by session. */
  url: string;
  /** The same database for plain queries, also through a pooler of transactions; `url` where absent. */
  poolUrl?: string;
  /** In the order of their timestamps, as TypeORM runs them. */
  migrations: readonly MigrationClass[];
  /** Told of sessions that broke while nobody used them; the pool replaces them by itself. */
  onError?: (error: Error) => void;
}

const POOL_SIZE = 16;
const MIGRATION_POOL_SIZE = 2;
/** Sessions that nobody uses end after so long. */
const READS_IDLE_MS = 60_000;
const TUNED_IDLE_MS = 10_000;
const SLOW_ANSWER_MS = 1_000;

/**
 * PostgreSQL as this process sees it. A restart of the server fails the statements in flight and nothing else; while
 * another one takes its place, statements that write wait for up to ten seconds, and after that all sessions are its.
 */
export class Database {
  private constructor(
    /** For statements and transactions that keep nothing of their session, neither settings nor locks. */
    readonly pool: pg.Pool,
    /** The repositories, over the same pool. */
    readonly dataSource: DataSource,
    private readonly options: DatabaseOptions,
    private readonly sessions: ReadOnlySessions,
  ) {}

  private readonly tuned: pg.Pool[] = [];
  private shared: SharedReads | undefined;
  private lead = 0;

  /**
   * Connects and brings the schema up to date, however many processes do so at once.
   * @throws ConfigError where the database is not one of UTF8, before anything is changed there
   */
  static async open(options: DatabaseOptions): Promise<Database> {
    const sessions = new ReadOnlySessions();
    const Pool = watchedPools(sessions);
    const pool = new Pool({ ...plainQueryOptions(options), max: POOL_SIZE, idleTimeoutMillis: READS_IDLE_MS });
    surviveErrors(pool, options.onError);
    try {
      await assertUtf8(pool);
      if (!(await isUpToDate(pool, options.migrations))) await bringUpToDate(options, Pool);
      return new Database(pool, await openRepositories(pool), options, sessions);
    } catch (error) {
      await pool.end().catch(() => undefined);
      throw error;
    }
  }

  /**
   * A session of its own, not yet connected, for LISTEN or session-level locks. Its errors are swallowed (a broken
   * session raises `error` more than once): watch its `end`.
   */
  session(purpose: string): pg.Client {
    const Client = clientOf(this.options.url);
    const client = new Client({
      ...connectionOptions(this.options.url),
      application_name: `${SESSIONS_OF_PROCESS}:${purpose}`,
    });
    client.on('error', () => undefined);
    return client;
  }

  /**
   * Sessions apart from the others, for statements that need settings of their own; closed with the database.
   * @param settings PostgreSQL parameters by name, set at the start of each session
   */
  tunedPool(
    purpose: string,
    size: number,
    settings: Readonly<Record<string, string>>,
    idleTimeoutMillis = TUNED_IDLE_MS,
  ): pg.Pool {
    const application_name = `${SESSIONS_OF_PROCESS}:${purpose}`;
    const set = Object.entries(settings).map(([name, value]) => `SET ${name} = ${value}`);
    const options = {
      ...directOptions(this.options.url, set),
      application_name,
      max: size,
      idleTimeoutMillis,
    };
    const Pool = watchedPools(this.sessions);
    const pool = new Pool(options);
    surviveErrors(pool, this.options.onError);
    this.tuned.push(pool);
    return pool;
  }

  /**
   * Sessions for plain queries that are planned better with settings of their own, and are as right without. Where plain
   * queries go through a pooler, which keeps no settings, these do as well: in sessions without.
   */
  readPool(purpose: string, size: number, settings: Readonly<Record<string, string>>): pg.Pool {
    if (this.options.poolUrl !== undefined) return this.pool;
    return this.tunedPool(purpose, size, settings, READS_IDLE_MS);
  }

  /** Lists and searches of callers: sessions of their own, in which callers take turns. */
  get reads(): SharedReads {
    const limits = { statement_timeout: String(STATEMENT_MS), plan_cache_mode: 'force_custom_plan' };
    this.shared ??= new SharedReads(this.tunedPool('lists', SHARED_READS, limits, READS_IDLE_MS), this.pool);
    return this.shared;
  }

  /** Ends the sessions of all pools as soon as nobody uses them: they may be those of a server that was replaced. */
  renewSessions(): void {
    this.sessions.renew();
  }

  /** Calls the listener when all sessions are replaced: whoever has one of his own does the same with it. */
  onSessionsRenewed(listener: () => void): void {
    this.sessions.onRenewal(listener);
  }

  /**
   * A time of this process's clock as the database's will show it: what it is to compare with its own is told so. Rather
   * a moment later: when it has come there it has come here.
   */
  timeThere(at: Date): Date {
    return new Date(at.getTime() + this.lead);
  }

  /** Learns how far the clocks are apart. One answer that took long says little: the next one will. */
  learnTime(there: Date, askedAt: number): void {
    if (Date.now() - askedAt < SLOW_ANSWER_MS) this.lead = there.getTime() + 1 - askedAt;
  }

  async ping(): Promise<void> {
    await this.pool.query('SELECT 1');
  }

  /** Waits for the statements in flight. */
  async close(): Promise<void> {
    const pools = [this.pool, ...this.tuned];
    await Promise.allSettled(pools.map((pool) => pool.end()));
  }
}

async function bringUpToDate(options: DatabaseOptions, Pool: typeof pg.Pool): Promise<void> {
  const migrations = new DataSource(migrationOptions(options, Pool));
  try {
    await migrate(options.url, migrations);
  } finally {
    if (migrations.isInitialized) await migrations.destroy().catch(() => undefined);
  }
}

function directOptions(
  url: string,
  settings: readonly string[] = [],
): pg.PoolConfig & { onConnect(client: pg.ClientBase): Promise<unknown> } {
  const begin = [SESSION_SETTINGS, ...settings].join('; ');
  return { ...connectionOptions(url), onConnect: (client) => client.query(begin) };
}

function plainQueryOptions({ url, poolUrl }: DatabaseOptions): pg.PoolConfig {
  if (poolUrl === undefined) return directOptions(url);
  return { ...connectionOptions(poolUrl), Client: withoutNames(clientOf(poolUrl)) };
}

/** Without listeners the loss of a session ends the process: an idle one is the pool's, a borrowed one raises its own. */
function surviveErrors(pool: pg.Pool, onError: (error: Error) => void = () => undefined): void {
  pool.on('error', (error) => onError(withoutSession(error)));
  pool.on('connect', (client) => client.on('error', () => undefined));
}

/** The pool hangs the session on its error, with its statements and the key that cancels them: whoever logs it writes all that. */
function withoutSession(error: Error & { client?: unknown }): Error {
  delete error.client;
  return error;
}

/** Settings of a session and locks are theirs, so their sessions are direct ones. */
function migrationOptions(options: DatabaseOptions, Pool: typeof pg.Pool): DataSourceOptions {
  return {
    type: 'postgres',
    url: options.url,
    applicationName: SESSIONS_OF_PROCESS,
    driver: { ...pg, Pool },
    poolSize: MIGRATION_POOL_SIZE,
    connectTimeoutMS: CONNECT_TIMEOUT_MS,
    poolErrorHandler: (error: Error) => options.onError?.(withoutSession(error)),
    extra: { keepAlive: true, keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS, Client: clientOf(options.url) },
    uuidExtension: 'pgcrypto',
    installExtensions: false,
    synchronize: false,
    migrations: [...options.migrations],
    migrationsTableName: MIGRATIONS,
    logger: PLAIN_ERRORS,
  };
}
