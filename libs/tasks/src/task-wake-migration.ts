import type { MigrationInterface, QueryRunner } from 'typeorm';

const ENDED = `('TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED')`;

/**
 * When a parked Task is to be gone on with; null where its last event did not park it. A version of before that goes on
 * with a parked Task leaves the time as it is, so it counts only while nobody claims the Task and it has not ended.
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

/** The way to what is due, and to what is parked at all; made while others go on writing. */
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
 * Makes Tasks due that are at work and that nobody claims. Versions before gave the claim back of an answer that was not
 * stored in time, and stored after that.
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

/** The way to the parked Tasks of each caller; made while others go on writing. */
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
