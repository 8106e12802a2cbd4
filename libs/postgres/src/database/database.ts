import { Logger } from '@nestjs/common';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import {
  DataSource,
  type DataSourceOptions,
  type Migration,
  MigrationExecutor,
  type MigrationInterface,
  type QueryRunner,
} from 'typeorm';
import {
  assertUtf8,
  clientOf,
  CONNECT_TIMEOUT_MS,
  connectionOptions,
  KEEP_ALIVE_DELAY_MS,
  liftLimit,
  SESSION_SETTINGS,
  withoutNames,
} from './connection-options.js';
import { ReadOnlySessions, sqlState, watchedPools } from './outage.js';
import { openRepositories, PLAIN_ERRORS } from './repositories.js';
import { SHARED_READS, SharedReads, STATEMENT_MS } from './shared-reads.js';
import { SESSIONS_OF_PROCESS } from './watched-client.js';

/** Key of the advisory lock of migrations: an otherwise unused number, the ASCII codes of "parley". */
const MIGRATION_LOCK = '123563833845113';
/**
 * Key of the advisory lock of migrations without a transaction, such as concurrent index builds. An index build waits
 * for the end of all statements with an older snapshot. Processes of earlier versions wait for MIGRATION_LOCK in such a
 * statement. If the builder of an index held MIGRATION_LOCK, it and these processes would wait for each other forever.
 */
const SLOW_MIGRATION_LOCK = '123563833845114';
/** Table that records the executed migrations. */
const MIGRATIONS = 'schema_migration';
const OLDEST_VERSION = 150_000;
const LOCK_LOOK_MS = 50;
/**
 * Maximum time that a migration waits for the lock of a table (PostgreSQL's `lock_timeout`). While it waits, later
 * statements on the table queue behind it.
 */
const TABLE_LOCK_TIMEOUT = '3s';
/** Milliseconds that a migration waits after it could not lock a table, so that statements queued behind it execute. */
const LET_BY_MS = 1_000;

/**
 * Statements that lift, for migrations, the timeouts that a role or a database may set: such timeouts are meant for
 * statements that clients repeat.
 */
const UNLIMITED = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout']
  .map(liftLimit)
  .join('; ');

/** SQLSTATEs that make a migration retry: a lock timeout and a deadlock. */
const BEHIND_OTHERS = new Set(['55P03', '40P01']);

const LOGGER = new Logger('Migration');

export type MigrationClass = new () => MigrationInterface;

/** True if every migration has been executed. Needs no lock: a migration is recorded when it is done. */
async function isUpToDate(pool: pg.Pool, migrations: readonly MigrationClass[]): Promise<boolean> {
  const { rows } = await pool.query<{ number: number; known: boolean }>(
    `SELECT current_setting('server_version_num')::int AS number, to_regclass('${MIGRATIONS}') IS NOT NULL AS known`,
  );
  if (rows[0]!.number < OLDEST_VERSION || !rows[0]!.known) return false;
  const recorded = await pool.query<{ name: string }>(`SELECT name FROM ${MIGRATIONS}`);
  const names = new Set(recorded.rows.map(({ name }) => name));
  return migrations.every((Migration) => names.has(new Migration().name ?? Migration.name));
}

/**
 * Connects the data source and executes its missing migrations: first the migrations that run in a transaction, then
 * the others. Advisory locks admit one process at a time; other processes wait and find nothing left to do. A migration
 * that cannot lock a table lets other statements pass, and is retried.
 */
async function runMigrations(url: string, dataSource: DataSource): Promise<void> {
  const Client = clientOf(url);
  const session = new Client(connectionOptions(url));
  session.on('error', () => undefined);
  await session.connect();
  try {
    await refuseOldServer(session);
    await takeMigrationLock(session);
    await dataSource.initialize();
    const runner = dataSource.createQueryRunner();
    try {
      await runner.query(`${SESSION_SETTINGS}; ${UNLIMITED}`);
      await runMissing(dataSource, runner, session);
    } finally {
      await runner.release();
    }
  } finally {
    await session.end().catch(() => undefined);
  }
}

/**
 * Waits for the migration lock; resolves once only this session may migrate. Polls, since a waiting statement would
 * keep a snapshot, and a concurrent index build waits for the end of all snapshots.
 */
export async function takeMigrationLock(session: pg.Client): Promise<void> {
  await takeLock(session, MIGRATION_LOCK);
}

/** Tries to take the migration lock, which the session holds until it ends. Does not wait. */
export function tryMigrationLock(session: pg.Client): Promise<boolean> {
  return tryLock(session, MIGRATION_LOCK);
}

async function takeLock(session: pg.Client, lock: string): Promise<void> {
  // This session is idle while other processes migrate.
  await session.query(SESSION_SETTINGS);
  while (!(await tryLock(session, lock))) await delay(LOCK_LOOK_MS);
}

async function tryLock(session: pg.Client, lock: string): Promise<boolean> {
  const { rows } = await session.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS taken', [lock]);
  return rows[0]?.taken ?? false;
}

async function runMissing(dataSource: DataSource, runner: QueryRunner, session: pg.Client): Promise<void> {
  const executor = new MigrationExecutor(dataSource, runner);
  const listMissing = async (transaction: boolean): Promise<Migration[]> =>
    (await executor.getPendingMigrations()).filter(({ instance }) => (instance?.transaction ?? true) === transaction);

  for (const migration of await listMissing(true)) {
    await whenLetBy(migration, () => inTransaction(runner, () => executor.executeMigration(migration)));
  }
  await session.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]);
  if ((await listMissing(false)).length === 0) return;
  await takeLock(session, SLOW_MIGRATION_LOCK);
  for (const migration of await listMissing(false)) {
    await whenLetBy(migration, () => executor.executeMigration(migration));
  }
}

async function inTransaction(runner: QueryRunner, work: () => Promise<unknown>): Promise<void> {
  await runner.startTransaction();
  try {
    await runner.query(`SET LOCAL lock_timeout = '${TABLE_LOCK_TIMEOUT}'`);
    await work();
    await runner.commitTransaction();
  } catch (error) {
    await runner.rollbackTransaction().catch(() => undefined);
    throw error;
  }
}

async function whenLetBy({ name }: Migration, run: () => Promise<unknown>): Promise<void> {
  for (let reported = false; ; reported = true) {
    try {
      await run();
      return;
    } catch (error) {
      if (!BEHIND_OTHERS.has(sqlState(error) ?? '')) throw error;
      if (!reported) LOGGER.warn({ migration: name, err: error }, 'A migration waits for others that use its tables');
    }
    await delay(LET_BY_MS);
  }
}

async function refuseOldServer(session: pg.Client): Promise<void> {
  const { rows } = await session.query<{ number: number }>(
    `SELECT current_setting('server_version_num')::int AS number`,
  );
  if (rows[0]!.number < OLDEST_VERSION) throw new Error('DATABASE_URL: PostgreSQL 15 or newer is needed');
}

export interface DatabaseOptions {
  /** URL of direct or session-pooled connections. */
  url: string;
  /** URL of the same database for plain queries, also through a transaction pooler; defaults to `url`. */
  poolUrl?: string;
  /** Migrations in the order of their timestamps, as TypeORM executes them. */
  migrations: readonly MigrationClass[];
  /** Receives errors of idle sessions, for the log only: the pool replaces these sessions by itself. */
  onError?: (error: Error) => void;
}

const POOL_SIZE = 16;
const MIGRATION_POOL_SIZE = 2;
/** Milliseconds until idle sessions of `pool`, `reads` and `readPool` end. */
const READS_IDLE_MS = 60_000;
/** Milliseconds until idle sessions of a `tunedPool` end, by default. */
const TUNED_IDLE_MS = 10_000;
/** Milliseconds above which an answer is too slow to compare the clocks of the database and this process. */
const SLOW_ANSWER_MS = 1_000;

/**
 * Pools and sessions of this process on its PostgreSQL database.
 * - `pool` is for plain queries, `reads` for lists and searches of callers, `tunedPool` for statements with settings,
 *   `createSession` for LISTEN and session-level locks.
 * - A restart of the server fails only the statements in flight.
 * - During a failover, writing statements wait up to ten seconds; afterwards all sessions are replaced.
 */
export class Database {
  private constructor(
    /** Pool for statements and transactions that rely on no session state, neither settings nor locks. */
    readonly pool: pg.Pool,
    /** Data source whose repositories use `pool`. */
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
   * @param size maximum number of sessions
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
   * Returns a pool of at most `size` sessions for plain queries that are planned better with these settings, but are
   * correct without. If DATABASE_POOL_URL is set, it returns `pool` without the settings: a pooler keeps none.
   */
  readPool(purpose: string, size: number, settings: Readonly<Record<string, string>>): pg.Pool {
    if (this.options.poolUrl !== undefined) return this.pool;
    return this.tunedPool(purpose, size, settings, READS_IDLE_MS);
  }

  /** Sessions for lists and searches. Callers take turns in using them (see SharedReads). */
  get reads(): SharedReads {
    const limits = { statement_timeout: String(STATEMENT_MS), plan_cache_mode: 'force_custom_plan' };
    this.shared ??= new SharedReads(this.tunedPool('lists', SHARED_READS, limits, READS_IDLE_MS), this.pool);
    return this.shared;
  }

  /**
   * Ends every session of all pools as soon as it is idle, since the session may lead to a server that was replaced.
   */
  renewSessions(): void {
    this.sessions.renewSessions();
  }

  /**
   * Calls the listener when all sessions of the pools are replaced, so that owners of separate sessions replace them
   * too.
   */
  onSessionsRenewed(listener: () => void): void {
    this.sessions.onRenewal(listener);
  }

  /**
   * Converts a time of this process's clock to the database's clock, for comparisons in statements. The result is never
   * too early: once the database's clock has passed it, this process's clock has passed `at`.
   */
  timeThere(at: Date): Date {
    return new Date(at.getTime() + this.lead);
  }

  /**
   * Measures the difference between the clocks of the database and of this process. Slow answers are ignored, since
   * they are imprecise.
   * @param there time of the database in an answer
   * @param askedAt time of this process before the query (`Date.now()`)
   */
  learnTime(there: Date, askedAt: number): void {
    if (Date.now() - askedAt < SLOW_ANSWER_MS) this.lead = there.getTime() + 1 - askedAt;
  }

  async ping(): Promise<void> {
    await this.pool.query('SELECT 1');
  }

  /** Closes all pools once their current statements have ended. */
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
 * Keeps the loss of a session from ending the process. The pool reports errors of idle sessions; users of borrowed
 * sessions get the error with their statement.
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

/**
 * Returns the options of the data source for migrations. Migrations need session settings and locks, so their sessions
 * are direct.
 */
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
