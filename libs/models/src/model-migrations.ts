import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The models that agents may answer with, by tenant and name. */
export class CreateModel1700000000830 implements MigrationInterface {
  readonly name = 'CreateModel1700000000830';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE model (
        tenant text COLLATE "C" NOT NULL,
        name text COLLATE "C" NOT NULL,
        provider text NOT NULL,
        -- Its name at the provider.
        model text NOT NULL,
        -- Where the provider is, if not where it always is.
        base_url text,
        -- The name of a credential.
        auth text,
        -- Media types that it takes beside text and data.
        input json NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        updated_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (tenant, name)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE model');
  }
}

export const MODEL_MIGRATIONS = [CreateModel1700000000830];
