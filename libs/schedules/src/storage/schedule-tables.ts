import { Column, Entity, type MigrationInterface, PrimaryColumn, type QueryRunner } from 'typeorm';

@Entity('schedule')
export class ScheduleRow {
  @PrimaryColumn('text') tenant!: string;
  @PrimaryColumn('text') name!: string;
  /** Identity of the schedule in its firings, jobs and idempotency keys: a schedule of the same name gets a new one. */
  @Column('uuid') schedule_id!: string;
  /** Caller under whose name the runs are started: the one that saved the schedule last. */
  @Column('text') owner!: string;
  @Column('text') workflow!: string;
  @Column('json') inputs!: object;
  /** Times of the schedule (see ScheduleTiming), as JSON. */
  @Column('json') timing!: object;
  /** Rules of the schedule (see ScheduleRules), as JSON. */
  @Column('json') rules!: object;
  @Column('boolean') is_paused!: boolean;
  /** Note of the one who paused the schedule; null if there is none. */
  @Column('text', { nullable: true }) pause_note!: string | null;
  /** Time that is due next; null if the schedule does not fire any more, or is paused. */
  @Column('timestamptz', { nullable: true }) next_due!: Date | null;
  /** Newest firing before the schedule was resumed. Failures up to it do not pause the schedule again. */
  @Column('bigint') counted_after!: string;
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz') updated_at!: Date;
  /** Label of the source that the command `apply` last wrote the schedule from; null if it never did. */
  @Column('text', { nullable: true }) mark!: string | null;
}

/** Creates the tables of schedules and of their firings. */
class CreateSchedule1700000001500 implements MigrationInterface {
  readonly name = 'CreateSchedule1700000001500';

  async up(runner: QueryRunner): Promise<void> {
    // json, not jsonb: inputs keep their numbers and the order of their members.
    await runner.query(`
      CREATE TABLE schedule (
        tenant text COLLATE "C" NOT NULL,
        name text COLLATE "C" NOT NULL,
        schedule_id uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
        owner text COLLATE "C" NOT NULL,
        workflow text COLLATE "C" NOT NULL,
        inputs json NOT NULL,
        timing json NOT NULL,
        rules json NOT NULL,
        is_paused boolean NOT NULL DEFAULT false,
        pause_note text,
        next_due timestamptz,
        counted_after bigint NOT NULL DEFAULT 0,
        created_at timestamptz NOT NULL DEFAULT now(),
        updated_at timestamptz NOT NULL DEFAULT now(),
        mark text COLLATE "C",
        PRIMARY KEY (tenant, name)
      )`);
    await runner.query('CREATE INDEX schedule_due ON schedule (next_due) WHERE next_due IS NOT NULL AND NOT is_paused');
    await runner.query(`
      CREATE TABLE schedule_firing (
        firing_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        schedule_id uuid NOT NULL REFERENCES schedule (schedule_id) ON DELETE CASCADE,
        due timestamptz NOT NULL,
        -- time, backfill or request
        cause text COLLATE "C" NOT NULL,
        -- starting, queued, started, skipped, missed or failed
        state text COLLATE "C" NOT NULL,
        -- True until the end of the run is known here.
        is_open boolean NOT NULL,
        -- Known before the run is started.
        run_id text COLLATE "C",
        -- completed, failed or canceled; NULL until the end of the run is known here
        outcome text COLLATE "C",
        -- Sentence why no run was started.
        reason text,
        decided_at timestamptz NOT NULL DEFAULT clock_timestamp()
      )`);
    await runner.query('CREATE INDEX schedule_firing_newest ON schedule_firing (schedule_id, firing_id)');
    // One firing for each time, whatever dies.
    await runner.query(`
      CREATE UNIQUE INDEX schedule_firing_time ON schedule_firing (schedule_id, due) WHERE cause = 'time'`);
    await runner.query(`
      CREATE INDEX schedule_firing_open ON schedule_firing (schedule_id, firing_id) WHERE is_open`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE schedule_firing');
    await runner.query('DROP TABLE schedule');
  }
}

export const SCHEDULE_MIGRATIONS = [CreateSchedule1700000001500];
