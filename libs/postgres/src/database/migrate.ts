import { setTimeout as delay } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import type pg from 'pg';
import { type DataSource, type Migration, MigrationExecutor, type MigrationInterface, type QueryRunner } from 'typeorm';
import { clientOf, connectionOptions } from './connection-options.js';
import { sqlState } from './outage.js';
import { liftLimit, SESSION_SETTINGS } from './session-settings.js';

/** Advisory lock of migrations: an otherwise unused number, the ASCII codes of "parley". */
export const MIGRATION_LOCK = '123563833845113';
/**
 * Advisory lock of migrations without a transaction. Earlier versions wait for the first lock in a statement with a
 * snapshot, and a concurrent index build waits for all snapshots. The builder must therefore not hold the first lock.
 */
const SLOW_MIGRATION_LOCK = '123563833845114';
/** Table that records the executed migrations. */
export const MIGRATIONS = 'schema_migration';
const OLDEST_VERSION = 150_000;
const LOCK_LOOK_MS = 50;
/**
 * Maximum wait of a migration for a table, since later statements queue behind it; and the pause that lets them pass.
 */
const TABLE_LOCK_TIMEOUT = '3s';
const LET_BY_MS = 1_000;

/** Statements that lift limits of a role or a database, which are meant for statements that clients repeat. */
const UNLIMITED = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout']
  .map(liftLimit)
  .join('; ');

/** SQLSTATEs of a lock timeout and of a deadlock. */
const BEHIND_OTHERS = new Set(['55P03', '40P01']);

const LOGGER = new Logger('Migration');

export type MigrationClass = new () => MigrationInterface;

/** True if every migration has been executed. Needs no lock: a migration is recorded when it is done. */
export async function isUpToDate(pool: pg.Pool, migrations: readonly MigrationClass[]): Promise<boolean> {
  const { rows } = await pool.query<{ number: number; known: boolean }>(
    `SELECT current_setting('server_version_num')::int AS number, to_regclass('${MIGRATIONS}') IS NOT NULL AS known`,
  );
  if (rows[0]!.number < OLDEST_VERSION || !rows[0]!.known) return false;
  const recorded = await pool.query<{ name: string }>(`SELECT name FROM ${MIGRATIONS}`);
  const names = new Set(recorded.rows.map(({ name }) => name));
  return migrations.every((Migration) => names.has(new Migration().name ?? Migration.name));
}

/**
 * Connects the data source and executes its missing migrations: first those in transactions of their own, then those
 * without. Advisory locks admit one process at a time; the others wait and find nothing left to do. A migration that
 * cannot lock a table lets other statements pass, and is retried.
 */
export async function runMigrations(url: string, dataSource: DataSource): Promise<void> {
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
 * Resolves once this session alone may migrate. It polls: a waiting statement would keep a snapshot, and a concurrent
 * index build waits for the end of all snapshots.
 */
export async function takeMigrationLock(session: pg.Client): Promise<void> {
  await takeLock(session, MIGRATION_LOCK);
}

/** Tries to become the only session that may migrate, until the session ends. Does not wait. */
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
