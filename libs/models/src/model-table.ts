import { Column, Entity, type MigrationInterface, PrimaryColumn, type QueryRunner } from 'typeorm';
import { createMarkMigration } from '#libs/configuration';
import type { ModelDefaults } from './model-defaults.js';
import type { ModelProvider } from './model-definition.js';
import type { ModelPrice } from './model-price.js';

@Entity('model')
export class ModelRow {
  @PrimaryColumn('text') tenant!: string;
  @PrimaryColumn('text') name!: string;
  @Column('text') provider!: ModelProvider;
  /** Model's name at the provider. */
  @Column('text') model!: string;
  @Column('text', { nullable: true }) base_url!: string | null;
  /** Name of the stored credential for calls. */
  @Column('text', { nullable: true }) auth!: string | null;
  @Column('json') input!: string[];
  @Column('json', { nullable: true }) price!: ModelPrice | null;
  @Column('json', { nullable: true }) defaults!: ModelDefaults | null;
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz') updated_at!: Date;
  /**
   * Mark (label) of the source from which this model was last written by the command `apply`, such as a folder of
   * files; null if it never was.
   */
  @Column('text', { nullable: true }) mark!: string | null;
}

/** Creates the table of the models that tenants store, by tenant and name. */
class CreateModel1700000000830 implements MigrationInterface {
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

/** Adds the column `price` to the table of models. */
class PriceModels1700000001420 implements MigrationInterface {
  readonly name = 'PriceModels1700000001420';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE model ADD COLUMN IF NOT EXISTS price json');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE model DROP COLUMN price');
  }
}

/** Adds the column `defaults` to the table of models. */
class ModelDefaults1700000001633 implements MigrationInterface {
  readonly name = 'ModelDefaults1700000001633';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE model ADD COLUMN IF NOT EXISTS defaults json');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE model DROP COLUMN defaults');
  }
}

export const MODEL_MIGRATIONS = [
  CreateModel1700000000830,
  createMarkMigration('model', 'MarkModel1700000001400'),
  PriceModels1700000001420,
  ModelDefaults1700000001633,
];
