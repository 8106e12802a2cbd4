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

/** Secrets that the service makes for itself and that all its replicas share. */
export class CreateServiceSecret1700000000410 implements MigrationInterface {
  readonly name = 'CreateServiceSecret1700000000410';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE service_secret (
        name text COLLATE "C" PRIMARY KEY,
        value bytea NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now()
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE service_secret');
  }
}

/** The tables of this library. Those of others do not depend on them. */
export const POSTGRES_MIGRATIONS = [CreateReplica1700000000000, CreateServiceSecret1700000000410];
