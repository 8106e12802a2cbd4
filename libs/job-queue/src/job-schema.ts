import type { Pool } from 'pg';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { type Database, takeMigrationLock } from '#libs/postgres';
import { jobLog } from './job-log.js';

/** Revision of the schema `graphile_worker` to which this version of Parley migrates. */
const REVISION = 20;

/**
 * Migrates the schema of the job queue (`graphile_worker`), and adds the index that JobTurns uses. One process migrates
 * at a time. Does nothing if both are current.
 */
export async function migrateJobQueue(database: Database): Promise<void> {
  const isCurrent = (await revisionOf(database)) === REVISION;
  if (isCurrent && (await hasTurnIndex(database.pool))) return;
  const { runMigrations } = await import('graphile-worker');
  const session = database.createSession('migration');
  await session.connect();
  try {
    await takeMigrationLock(session);
    const unlimited = { statement_timeout: '0', idle_in_transaction_session_timeout: '0' };
    const pgPool = database.tunedPool('job-migration', 1, unlimited);
    await runMigrations({ pgPool, logger: await jobLog() });
    // Another process may have created the index in the meantime.
    if (!(await hasTurnIndex(pgPool))) await indexTurns(pgPool);
  } finally {
    await session.end().catch(() => undefined);
  }
}

/** Creates the index of jobs by caller (see JobTurns) without blocking writers. */
async function indexTurns(sessions: Pool): Promise<void> {
  await sessions.query('DROP INDEX CONCURRENTLY IF EXISTS graphile_worker.job_turn');
  await sessions.query(`
    CREATE INDEX CONCURRENTLY job_turn ON graphile_worker._private_jobs
      ((coalesce(flags::text, '-') COLLATE "C"), priority, run_at) WHERE is_available`);
}

/** True if the index that JobTurns uses exists and is valid. An index whose creation was interrupted is invalid. */
async function hasTurnIndex(sessions: Pool): Promise<boolean> {
  const { rows } = await sessions.query(
    `SELECT FROM pg_index WHERE indexrelid = to_regclass('graphile_worker.job_turn') AND indisvalid`,
  );
  return rows.length > 0;
}

/** Returns the revision of the existing schema `graphile_worker`; `undefined` if there is no such schema. */
async function revisionOf({ pool }: Database): Promise<number | undefined> {
  const known = await pool.query<{ known: boolean }>(
    `SELECT to_regclass('graphile_worker.migrations') IS NOT NULL AS known`,
  );
  if (!known.rows[0]?.known) return undefined;
  const { rows } = await pool.query<{ id: number }>('SELECT max(id) AS id FROM graphile_worker.migrations');
  return rows[0]?.id;
}

/**
 * Creates the table `job_worker`: the names of the workers with which replicas take jobs. The table has no foreign key,
 * because a replica may be forgotten while it is frozen, and then resume.
 */
class CreateJobWorker1700000000010 implements MigrationInterface {
  readonly name = 'CreateJobWorker1700000000010';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE job_worker (
        worker_id text PRIMARY KEY,
        replica_id text NOT NULL,
        registered_at timestamptz NOT NULL DEFAULT now()
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE job_worker');
  }
}

/** Migrations of the tables of this library. `migrateJobQueue` migrates the schema of the job queue. */
export const JOB_MIGRATIONS = [CreateJobWorker1700000000010];
