import type { MigrationInterface, QueryRunner } from 'typeorm';

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

/** The tables of SigningKeys. */
export const SIGNING_MIGRATIONS = [CreateSigningKey1700000000720, SealSigningKey1700000000811];
