import { type Database, takeMigrationLock } from '#libs/postgres';
import { jobLog } from './job-log.js';

/** Brings the queue's own schema (`graphile_worker`) up to date, one process at a time. */
export async function migrateJobQueue(database: Database): Promise<void> {
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
