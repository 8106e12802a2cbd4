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

/** The keys that this service signs with, shared by all replicas; at most one for a purpose signs. */
export class CreateSigningKey1700000000720 implements MigrationInterface {
  readonly name = 'CreateSigningKey1700000000720';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE signing_key (
        kid text COLLATE "C" PRIMARY KEY,
        purpose text COLLATE "C" NOT NULL,
        public_key json NOT NULL,
        private_key json NOT NULL,
        signs boolean NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now()
      )`);
    await runner.query('CREATE UNIQUE INDEX signing_key_signs ON signing_key (purpose) WHERE signs');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE signing_key');
  }
}

/** Room for a sealed private key. One that lies in the open from before is read, and sealed when it is first used. */
export class SealSigningKey1700000000811 implements MigrationInterface {
  readonly name = 'SealSigningKey1700000000811';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE signing_key ADD COLUMN sealed_private_key text');
    await runner.query('ALTER TABLE signing_key ALTER COLUMN private_key DROP NOT NULL');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DELETE FROM signing_key WHERE private_key IS NULL');
    await runner.query('ALTER TABLE signing_key ALTER COLUMN private_key SET NOT NULL');
    await runner.query('ALTER TABLE signing_key DROP COLUMN sealed_private_key');
  }
}

/** The tables of this library. Those of others do not depend on them. */
export const PLATFORM_MIGRATIONS = [
  CreateReplica1700000000000,
  CreateJobWorker1700000000010,
  CreateServiceSecret1700000000410,
  CreateSigningKey1700000000720,
  SealSigningKey1700000000811,
];
