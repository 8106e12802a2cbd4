import { setTimeout as delay } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import type pg from 'pg';
import { type DataSource, type Migration, MigrationExecutor, type MigrationInterface, type QueryRunner } from 'typeorm';
import { clientOf, connectionOptions } from './connection-options.js';
import { sqlState } from './outage.js';
import { lifted, SESSION_SETTINGS } from './session-settings.js';

/** Any number that nobody else uses for an advisory lock: the ASCII codes of "parley". */
export const MIGRATION_LOCK = '123563833845113';
/**
 * The same for what runs without a transaction, apart from the first. Earlier versions wait for that one in a statement,
 * whose snapshot an index that is made concurrently waits for: whoever makes one must not hold what they wait for.
 */
const SLOW_MIGRATION_LOCK = '123563833845114';
/** The table in which they are recorded. */
export const MIGRATIONS = 'schema_migration';
const OLDEST_VERSION = 150_000;
const LOCK_LOOK_MS = 50;
/** Whoever waits for a table has everyone queue up behind him, so nobody waits longer; and how long they are let by then. */
const TABLE_LOCK_TIMEOUT = '3s';
const LET_BY_MS = 1_000;

/** A role's or a database's limits are for statements that somebody would ask again. */
const UNLIMITED = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'].map(lifted).join('; ');

/** A lock was not to be had in time, and a deadlock. */
const BEHIND_OTHERS = new Set(['55P03', '40P01']);

const LOGGER = new Logger('Migration');

export type MigrationClass = new () => MigrationInterface;

/** Whether every migration has been run. Needs no lock: one is recorded when it is done. */
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
 * Connects the data source and runs its missing migrations, each in a transaction of its own, then those that must not
 * be in one. Advisory locks let one process at a time do so; the others wait and find nothing left to do. A migration
 * that others keep from a table lets them by and is run again.
 */
export async function migrate(url: string, dataSource: DataSource): Promise<void> {
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
 * Resolves when this session alone may migrate. It looks again and again: a statement that waited would keep a snapshot,
 * and an index that is made concurrently waits for the end of all of those.
 */
export async function takeMigrationLock(session: pg.Client): Promise<void> {
  await takeLock(session, MIGRATION_LOCK);
}

/** Whether this session alone may migrate from now on, until it ends; at once. */
export function tryMigrationLock(session: pg.Client): Promise<boolean> {
  return tryLock(session, MIGRATION_LOCK);
}

async function takeLock(session: pg.Client, lock: string): Promise<void> {
  // It is idle while others run the migrations.
  await session.query(SESSION_SETTINGS);
  while (!(await tryLock(session, lock))) await delay(LOCK_LOOK_MS);
}

async function tryLock(session: pg.Client, lock: string): Promise<boolean> {
  const { rows } = await session.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS taken', [lock]);
  return rows[0]?.taken ?? false;
}

async function runMissing(dataSource: DataSource, runner: QueryRunner, session: pg.Client): Promise<void> {
  const executor = new MigrationExecutor(dataSource, runner);
  const missing = async (transaction: boolean): Promise<Migration[]> =>
    (await executor.getPendingMigrations()).filter(({ instance }) => (instance?.transaction ?? true) === transaction);

  for (const migration of await missing(true)) {
    await whenLetBy(migration, () => inTransaction(runner, () => executor.executeMigration(migration)));
  }
  await session.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]);
  if ((await missing(false)).length === 0) return;
  await takeLock(session, SLOW_MIGRATION_LOCK);
  for (const migration of await missing(false)) {
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
