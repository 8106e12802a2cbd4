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
import { isUpToDate, runMigrations, type MigrationClass, MIGRATIONS } from './migrate.js';
import { ReadOnlySessions, watchedPools } from './read-only-sessions.js';
import { openRepositories, PLAIN_ERRORS } from './repositories.js';
import { SHARED_READS, SharedReads, STATEMENT_MS } from './shared-reads.js';
import { SESSION_SETTINGS } from './session-settings.js';
import { SESSIONS_OF_PROCESS } from './watched-client.js';

export interface DatabaseOptions {
  /** URL of direct or session-pooled connections. */
  url: string;
  /** URL of the same database for plain queries, also through a transaction pooler; defaults to `url`. */
  poolUrl?: string;
  /** Migrations in the order of their timestamps, as TypeORM executes them. */
  migrations: readonly MigrationClass[];
  /** Receives errors of idle sessions; the pool replaces such sessions by itself. */
  onError?: (error: Error) => void;
}

const POOL_SIZE = 16;
const MIGRATION_POOL_SIZE = 2;
/** Milliseconds after which idle sessions end. */
const READS_IDLE_MS = 60_000;
const TUNED_IDLE_MS = 10_000;
const SLOW_ANSWER_MS = 1_000;

/**
 * PostgreSQL as this process uses it. A restart of the server fails only the statements in flight. During a failover,
 * writing statements wait up to ten seconds; afterwards all sessions are replaced.
 */
export class Database {
  private constructor(
    /** Pool for statements and transactions that rely on no session state, neither settings nor locks. */
    readonly pool: pg.Pool,
    /** Repositories over the same pool. */
    readonly dataSource: DataSource,
    private readonly options: DatabaseOptions,
    private readonly sessions: ReadOnlySessions,
  ) {}

  private readonly tuned: pg.Pool[] = [];
  private shared: SharedReads | undefined;
  private lead = 0;

  /**
   * Connects and migrates the schema; any number of processes may do so concurrently.
   * @throws ConfigError if the encoding is not UTF8, before anything is changed
   */
  static async connectAndMigrate(options: DatabaseOptions): Promise<Database> {
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
   * Creates a separate session, not yet connected, for LISTEN or session-level locks. Its errors are swallowed (a
   * broken session emits `error` more than once): watch its `end`.
   */
  createSession(purpose: string): pg.Client {
    const Client = clientOf(this.options.url);
    const client = new Client({
      ...connectionOptions(this.options.url),
      application_name: `${SESSIONS_OF_PROCESS}:${purpose}`,
    });
    client.on('error', () => undefined);
    return client;
  }

  /**
   * Creates a separate pool for statements that need their own settings; it is closed with the database.
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
   * Returns a pool for plain queries that are planned better with their own settings, but are correct without. If plain
   * queries use a pooler, which keeps no settings, these share it without the settings.
   */
  readPool(purpose: string, size: number, settings: Readonly<Record<string, string>>): pg.Pool {
    if (this.options.poolUrl !== undefined) return this.pool;
    return this.tunedPool(purpose, size, settings, READS_IDLE_MS);
  }

  /** Sessions for lists and searches of callers, in which callers take turns. */
  get reads(): SharedReads {
    const limits = { statement_timeout: String(STATEMENT_MS), plan_cache_mode: 'force_custom_plan' };
    this.shared ??= new SharedReads(this.tunedPool('lists', SHARED_READS, limits, READS_IDLE_MS), this.pool);
    return this.shared;
  }

  /** Ends the sessions of all pools as soon as they are idle: they may lead to a replaced server. */
  renewSessions(): void {
    this.sessions.renewSessions();
  }

  /** Calls the listener when all sessions are replaced: owners of separate sessions replace theirs as well. */
  onSessionsRenewed(listener: () => void): void {
    this.sessions.onRenewal(listener);
  }

  /**
   * Converts a time of this process's clock to the database's clock, for comparisons in statements. It errs towards a
   * later time: once it has passed there, it has passed here.
   */
  timeThere(at: Date): Date {
    return new Date(at.getTime() + this.lead);
  }

  /** Measures the difference between the clocks. Slow answers are ignored, since they are imprecise. */
  learnTime(there: Date, askedAt: number): void {
    if (Date.now() - askedAt < SLOW_ANSWER_MS) this.lead = there.getTime() + 1 - askedAt;
  }

  async ping(): Promise<void> {
    await this.pool.query('SELECT 1');
  }

  /** Closes all pools after the statements in flight. */
  async close(): Promise<void> {
    const pools = [this.pool, ...this.tuned];
    await Promise.allSettled(pools.map((pool) => pool.end()));
  }
}

async function bringUpToDate(options: DatabaseOptions, Pool: typeof pg.Pool): Promise<void> {
  const migrations = new DataSource(migrationOptions(options, Pool));
  try {
    await runMigrations(options.url, migrations);
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

/**
 * Keeps the loss of a session from ending the process. The pool reports idle sessions; users of borrowed sessions get
 * errors of their own.
 */
function surviveErrors(pool: pg.Pool, onError: (error: Error) => void = () => undefined): void {
  pool.on('error', (error) => onError(withoutSession(error)));
  pool.on('connect', (client) => client.on('error', () => undefined));
}

/**
 * Detaches the session that the pool adds to its errors. A logged session would expose its statements and its cancel
 * key.
 */
function withoutSession(error: Error & { client?: unknown }): Error {
  delete error.client;
  return error;
}

/** Returns options for migrations. They need settings of a session and locks, so their sessions are direct. */
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
