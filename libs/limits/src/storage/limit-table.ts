import { Column, Entity, type MigrationInterface, PrimaryColumn, type QueryRunner } from 'typeorm';
import type { LimitKey } from '../limit.js';

@Entity('flow_limit')
export class FlowLimitRow {
  @PrimaryColumn('text') tenant!: string;
  @PrimaryColumn('text') name!: string;
  @Column('text') target!: string;
  @Column('text', { nullable: true }) per!: LimitKey | null;
  @Column('boolean') all_tenants!: boolean;
  @Column('integer', { nullable: true }) concurrency!: number | null;
  @Column('integer', { nullable: true }) rate_count!: number | null;
  /** Duration as the caller wrote it, such as `1m`. */
  @Column('text', { nullable: true }) rate_period!: string | null;
  @Column('integer', { nullable: true }) rate_burst!: number | null;
  /** Milliseconds between two starts. */
  @Column('double precision', { nullable: true }) rate_ms!: number | null;
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz') updated_at!: Date;
  /** Label of the source from which the command `apply` last wrote the limit; null if it never did. */
  @Column('text', { nullable: true }) mark!: string | null;
}

/** Creates the table of the limits of tenants. */
class CreateFlowLimit1700000001810 implements MigrationInterface {
  readonly name = 'CreateFlowLimit1700000001810';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE flow_limit (
        tenant text COLLATE "C" NOT NULL,
        name text COLLATE "C" NOT NULL,
        target text COLLATE "C" NOT NULL,
        per text,
        all_tenants boolean NOT NULL DEFAULT false,
        concurrency integer,
        rate_count integer,
        rate_period text,
        rate_burst integer,
        -- Milliseconds between two starts.
        rate_ms float8,
        created_at timestamptz NOT NULL DEFAULT now(),
        updated_at timestamptz NOT NULL DEFAULT now(),
        mark text COLLATE "C",
        PRIMARY KEY (tenant, name)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE flow_limit');
  }
}

export const LIMIT_MIGRATIONS = [CreateFlowLimit1700000001810];
