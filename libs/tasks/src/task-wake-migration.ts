import type { MigrationInterface, QueryRunner } from 'typeorm';

const ENDED = `('TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED')`;

/**
 * Time at which a parked Task is due; null if its last event did not park it. An earlier version that resumes a parked
 * Task leaves the time unchanged, so it counts only while the Task is unclaimed and has not ended.
 */
export class AddTaskWake1700000000140 implements MigrationInterface {
  readonly name = 'AddTaskWake1700000000140';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE task ADD COLUMN IF NOT EXISTS wake_at timestamptz');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE task DROP COLUMN wake_at');
  }
}

/** Index for due Tasks and for all parked ones, created without blocking writers. */
export class IndexTaskWake1700000000941 implements MigrationInterface {
  readonly name = 'IndexTaskWake1700000000941';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS task_wake');
    await runner.query(`
      CREATE INDEX CONCURRENTLY task_wake ON task (wake_at) INCLUDE (agent, state)
      WHERE wake_at IS NOT NULL AND replica_id IS NULL AND state NOT IN ${ENDED}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX CONCURRENTLY task_wake');
  }
}

/**
 * Makes working Tasks without a claim due. Earlier versions released the claim of an answer that was not stored in
 * time, and stored it afterwards.
 */
export class WakeStrandedTasks1700000001360 implements MigrationInterface {
  readonly name = 'WakeStrandedTasks1700000001360';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      UPDATE task SET wake_at = now()
      WHERE replica_id IS NULL AND wake_at IS NULL AND state IN ('TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING')`);
  }

  /** Leaves due Tasks due. */
  async down(): Promise<void> {}
}

/** Index for the parked Tasks of each caller, created without blocking writers. */
export class IndexTaskWakeCaller1700000001380 implements MigrationInterface {
  readonly name = 'IndexTaskWakeCaller1700000001380';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS task_wake_caller');
    await runner.query(`
      CREATE INDEX CONCURRENTLY task_wake_caller ON task (tenant, owner, wake_at)
      WHERE wake_at IS NOT NULL AND replica_id IS NULL AND state NOT IN ${ENDED}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX CONCURRENTLY task_wake_caller');
  }
}
