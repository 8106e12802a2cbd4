import type { MigrationInterface, QueryRunner } from 'typeorm';

class CreateReplica1700000000000 implements MigrationInterface {
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

/** Creates the table of the secrets that the service creates for itself. All replicas share these secrets. */
class CreateServiceSecret1700000000410 implements MigrationInterface {
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

/**
 * Adds a column with the number of the SQL statements that a replica runs (REPLICA_GENERATION); null for replicas of
 * earlier versions. Also adds an index that contains only the rows of earlier versions: a search for them need not read
 * the rows of current replicas, which have many dead versions because every heartbeat updates them.
 */
class AddReplicaGeneration1700000000311 implements MigrationInterface {
  readonly name = 'AddReplicaGeneration1700000000311';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE replica ADD COLUMN generation integer');
    await runner.query('CREATE INDEX replica_of_before ON replica (id) WHERE generation IS NULL');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE replica DROP COLUMN generation');
  }
}

/**
 * Adds the column `steady_since`: the time since which a replica has sent its heartbeats without a gap. This time
 * decides whether the replica may declare others dead. Earlier versions of the service do not write the column.
 */
class AddSteadySince1700000000301 implements MigrationInterface {
  readonly name = 'AddSteadySince1700000000301';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE replica ADD COLUMN steady_since timestamptz NOT NULL DEFAULT now()');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE replica DROP COLUMN steady_since');
  }
}

/**
 * Creates the table with the one installation of this database, and the place where the database was at the last start
 * of a service (see Installation).
 */
class CreateInstallation1700000000440 implements MigrationInterface {
  readonly name = 'CreateInstallation1700000000440';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE installation (
        is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
        id text COLLATE "C" NOT NULL,
        server text COLLATE "C",
        database text COLLATE "C" NOT NULL,
        moved_at timestamptz NOT NULL DEFAULT now()
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE installation');
  }
}

/** Migrations of this library's tables. Tables of other libraries may reference the replicas. */
export const POSTGRES_MIGRATIONS = [
  CreateReplica1700000000000,
  AddSteadySince1700000000301,
  AddReplicaGeneration1700000000311,
  CreateServiceSecret1700000000410,
  CreateInstallation1700000000440,
];
