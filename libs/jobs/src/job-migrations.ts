import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The names under which replicas take jobs. No foreign key: a replica that was forgotten while frozen may come back. */
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

/** The tables of this library; the queue keeps its own (`migrateJobQueue`). */
export const JOB_MIGRATIONS = [CreateJobWorker1700000000010];
