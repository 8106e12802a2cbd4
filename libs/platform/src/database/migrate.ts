import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { DataSource } from 'typeorm';
import { clientOf, connectionOptions } from './connection-options.js';

/** Any number that nobody else uses for an advisory lock: the ASCII codes of "parley". */
export const MIGRATION_LOCK = '123563833845113';
const OLDEST_VERSION = 150_000;
const LOCK_LOOK_MS = 50;

/**
 * Connects the data source and runs its missing migrations, each in a transaction of its own. An advisory lock lets
 * one process at a time do so; the others wait and find nothing left to do.
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
    await dataSource.runMigrations({ transaction: 'each' });
  } finally {
    await session.end().catch(() => undefined);
  }
}

/**
 * Resolves when this session alone may migrate. It looks again and again: a statement that waited would keep a snapshot,
 * and an index that is made concurrently waits for the end of all of those.
 */
export async function takeMigrationLock(session: pg.Client): Promise<void> {
  const taken = async (): Promise<boolean> => {
    const { rows } = await session.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS taken', [
      MIGRATION_LOCK,
    ]);
    return rows[0]?.taken ?? false;
  };
  while (!(await taken())) await delay(LOCK_LOOK_MS);
}

async function refuseOldServer(session: pg.Client): Promise<void> {
  const { rows } = await session.query<{ number: number }>(
    `SELECT current_setting('server_version_num')::int AS number`,
  );
  if (rows[0]!.number < OLDEST_VERSION) throw new Error('DATABASE_URL: PostgreSQL 15 or newer is needed');
}
