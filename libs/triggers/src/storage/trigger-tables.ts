import { Column, Entity, type MigrationInterface, PrimaryColumn, type QueryRunner } from 'typeorm';
import { NoticeRunEnds1700000001660 } from './run-end-migration.js';

@Entity('workflow_trigger')
export class TriggerRow {
  @PrimaryColumn('text') tenant!: string;
  @PrimaryColumn('text') name!: string;
  /** Identity of the trigger in its deliveries: a trigger of the same name gets a new one. */
  @Column('uuid') trigger_id!: string;
  /** Unguessable id in the address of the webhook. */
  @Column('text') hook_id!: string;
  /** Caller under whose name the runs of a webhook are started: the one that saved the trigger last. */
  @Column('text') owner!: string;
  @Column('text') workflow!: string;
  /** Source of the events (see TriggerSource), as JSON. */
  @Column('json') source!: object;
  /** Rules of the trigger (see TriggerRules), as JSON. */
  @Column('json') rules!: object;
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz') updated_at!: Date;
  /** Label of the source that the command `apply` last wrote the trigger from; null if it never did. */
  @Column('text', { nullable: true }) mark!: string | null;
}

/** Creates the tables of triggers and of their deliveries. */
class CreateTrigger1700000001650 implements MigrationInterface {
  readonly name = 'CreateTrigger1700000001650';

  async up(runner: QueryRunner): Promise<void> {
    // json, not jsonb: inputs keep their numbers and the order of their members. The hook id has 122 random bits.
    await runner.query(`
      CREATE TABLE workflow_trigger (
        tenant text COLLATE "C" NOT NULL,
        name text COLLATE "C" NOT NULL,
        trigger_id uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
        hook_id text COLLATE "C" NOT NULL UNIQUE DEFAULT replace(gen_random_uuid()::text, '-', ''),
        owner text COLLATE "C" NOT NULL,
        workflow text COLLATE "C" NOT NULL,
        source json NOT NULL,
        rules json NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        updated_at timestamptz NOT NULL DEFAULT now(),
        mark text COLLATE "C",
        PRIMARY KEY (tenant, name)
      )`);
    await runner.query(`
      CREATE TABLE trigger_delivery (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        trigger_id uuid NOT NULL REFERENCES workflow_trigger (trigger_id) ON DELETE CASCADE,
        -- The id by which the sender repeats a delivery.
        delivery_key text COLLATE "C" NOT NULL,
        -- delivery, replay or run
        cause text COLLATE "C" NOT NULL,
        -- starting, started, filtered, rejected, skipped or failed
        state text COLLATE "C" NOT NULL,
        -- True until the end of the run is known here.
        is_open boolean NOT NULL,
        -- True for the newest deliveries of the trigger, which are kept whatever their age.
        is_recent boolean NOT NULL DEFAULT true,
        -- Caller and workflow of the run, as they were when the delivery was accepted.
        tenant text COLLATE "C" NOT NULL,
        owner text COLLATE "C" NOT NULL,
        workflow text COLLATE "C" NOT NULL,
        -- Known before the run is started.
        run_id text COLLATE "C",
        -- Inputs of the run, until it is started.
        inputs json,
        -- Content of the delivery, for a replay; only for some of the newest.
        event json,
        event_bytes integer,
        -- Number of runs before the run that were started by the end of another.
        depth integer NOT NULL DEFAULT 0,
        -- completed, failed or canceled; NULL until the end of the run is known here
        outcome text COLLATE "C",
        -- Sentence why no run was started, and the members at fault.
        reason text,
        errors json,
        received_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        UNIQUE (trigger_id, delivery_key)
      )`);
    await runner.query('CREATE INDEX trigger_delivery_newest ON trigger_delivery (trigger_id, number)');
    await runner.query('CREATE INDEX trigger_delivery_open ON trigger_delivery (trigger_id) WHERE is_open');
    await runner.query('CREATE INDEX trigger_delivery_tenant ON trigger_delivery (tenant) WHERE is_open');
    await runner.query('CREATE INDEX trigger_delivery_recent ON trigger_delivery (trigger_id, number) WHERE is_recent');
    await runner.query(`
      CREATE INDEX trigger_delivery_old ON trigger_delivery (received_at) WHERE NOT is_open AND NOT is_recent`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE trigger_delivery');
    await runner.query('DROP TABLE workflow_trigger');
  }
}

export const TRIGGER_MIGRATIONS = [CreateTrigger1700000001650, NoticeRunEnds1700000001660];
