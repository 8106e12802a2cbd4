import type { MigrationInterface, QueryRunner } from 'typeorm';
import { callerFlagSql } from '#libs/jobs';
import { ENDED_TASK } from '#libs/tasks';

/** SQL condition that is true if the row `task` of a trigger has just ended. */
const JUST_ENDED = `NOT (${ENDED_TASK.replaceAll('task.', 'OLD.')}) AND ${ENDED_TASK.replaceAll('task.', 'NEW.')}`;

/**
 * Creates the table of the runs of workflows with `concurrency`: those that have a slot, and those that wait for one.
 * The trigger enqueues the job that passes the slot on in the commit that ends the run. Runs of
 * other workflows cost no statement, because the condition of the trigger reads a column of their own row.
 */
export class CreateRunSlot1700000001640 implements MigrationInterface {
  readonly name = 'CreateRunSlot1700000001640';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE task ADD COLUMN has_run_slot boolean NOT NULL DEFAULT false');
    await runner.query(`
      CREATE TABLE run_slot (
        task_id text COLLATE "C" PRIMARY KEY REFERENCES task ON DELETE CASCADE,
        -- Digest of the tenant, the workflow and the value of concurrency.key: runs of a gate share the limit.
        gate text COLLATE "C" NOT NULL,
        -- Beginning of the value of concurrency.key, for readers.
        key text NOT NULL,
        most int NOT NULL,
        seq bigint GENERATED ALWAYS AS IDENTITY,
        is_held boolean NOT NULL DEFAULT false,
        since timestamptz NOT NULL DEFAULT now()
      )`);
    await runner.query('CREATE INDEX run_slot_order ON run_slot (gate, seq)');
    await runner.query('CREATE INDEX run_slot_waiting ON run_slot (gate, seq) WHERE NOT is_held');
    await runner.query('CREATE INDEX run_slot_held ON run_slot (gate, seq) WHERE is_held');
    await runner.query(`
      CREATE FUNCTION run_slot_ends() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM graphile_worker.add_job('runs.free-slot', json_build_object('taskId', NEW.task_id),
                                        job_key => 'runs.free-slot/' || NEW.task_id,
                                        flags => ARRAY[${callerFlagSql('NEW.tenant', 'NEW.owner')}]);
        RETURN NULL;
      END $$`);
    await runner.query(`
      CREATE TRIGGER run_slot_ended AFTER UPDATE OF state ON task FOR EACH ROW
      WHEN (NEW.has_run_slot AND ${JUST_ENDED})
      EXECUTE FUNCTION run_slot_ends()`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TRIGGER run_slot_ended ON task');
    await runner.query('DROP FUNCTION run_slot_ends');
    await runner.query('DROP TABLE run_slot');
    await runner.query('ALTER TABLE task DROP COLUMN has_run_slot');
  }
}
