import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Names under which replicas take jobs. There is no foreign key: a replica may be forgotten while it is frozen, and
 * come back.
 */
export class CreateJobWorker1700000000010 implements MigrationInterface {
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

/** Tables of this library. The queue migrates its own (`migrateJobQueue`). */
export const JOB_MIGRATIONS = [CreateJobWorker1700000000010];
