import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateReplica1700000000000 implements MigrationInterface {
  readonly name = 'CreateReplica1700000000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE replica (
        id text PRIMARY KEY,
        lock_key bigint NOT NULL,
        started_at timestamptz NOT NULL DEFAULT now(),
        heartbeat_at timestamptz NOT NULL DEFAULT now()
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE replica');
  }
}

/** The tables of this library. Always run first. */
export const PLATFORM_MIGRATIONS = [CreateReplica1700000000000];
