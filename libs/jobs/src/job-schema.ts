import { type Database, takeMigrationLock } from '#libs/postgres';
import { jobLog } from './job-log.js';

/** The revision of its schema that the queue brings about. */
const REVISION = 20;

/** Brings the queue's own schema (`graphile_worker`) up to date where it is not, one process at a time. */
export async function migrateJobQueue(database: Database): Promise<void> {
  if ((await revisionOf(database)) === REVISION) return;
  const { runMigrations } = await import('graphile-worker');
  const session = database.session('migration');
  await session.connect();
  try {
    await takeMigrationLock(session);
    const unlimited = { statement_timeout: '0', idle_in_transaction_session_timeout: '0' };
    await runMigrations({ pgPool: database.tunedPool('job-migration', 1, unlimited), logger: await jobLog() });
  } finally {
    await session.end().catch(() => undefined);
  }
}

/** Of the schema that there is, if any. */
async function revisionOf({ pool }: Database): Promise<number | undefined> {
  const known = await pool.query<{ known: boolean }>(
    `SELECT to_regclass('graphile_worker.migrations') IS NOT NULL AS known`,
  );
  if (!known.rows[0]?.known) return undefined;
  const { rows } = await pool.query<{ id: number }>('SELECT max(id) AS id FROM graphile_worker.migrations');
  return rows[0]?.id;
}
