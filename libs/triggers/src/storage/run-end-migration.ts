import type { MigrationInterface, QueryRunner } from 'typeorm';
import { callerFlagSql } from '#libs/jobs';

/** Name of the job that fires the triggers of an ended run. The database enqueues it. */
export const RUN_ENDED = 'triggers.run-ended';

const ENDED = `('TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED')`;
/** Condition for a row of a run that no other run called and that has ended. */
const IS_ENDED_RUN = `NEW.state IN ${ENDED} AND NEW.parent_task_id IS NULL AND starts_with(NEW.agent, 'workflows/')
  AND strpos(substr(NEW.agent, 11), '/') = 0`;

/**
 * Creates the trigger of the database that notices the ends of runs: the transaction that ends a run also enqueues one
 * job if any trigger of the tenant waits for runs of its workflow. The end of any other run costs one search in an
 * index, and the end of any other Task one check of its columns.
 */
export class NoticeRunEnds1700000001660 implements MigrationInterface {
  readonly name = 'NoticeRunEnds1700000001660';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE INDEX workflow_trigger_run ON workflow_trigger (tenant, (source->'run'->>'workflow'))
      WHERE source->'run' IS NOT NULL`);
    // A delivery of the run is open until now, so it is still stored.
    await runner.query('CREATE INDEX trigger_delivery_run ON trigger_delivery (run_id) WHERE run_id IS NOT NULL');
    await runner.query(`
      CREATE FUNCTION trigger_run_ended() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF EXISTS (SELECT FROM workflow_trigger WHERE tenant = NEW.tenant AND source->'run' IS NOT NULL
                   AND source->'run'->>'workflow' = substr(NEW.agent, 11)) THEN
          PERFORM graphile_worker.add_job('${RUN_ENDED}',
            json_build_object('runId', NEW.task_id, 'depth',
              1 + coalesce((SELECT max(depth) FROM trigger_delivery WHERE run_id = NEW.task_id), 0)),
            job_key => '${RUN_ENDED}/' || NEW.task_id, max_attempts => 25,
            flags => ARRAY[${callerFlagSql('NEW.tenant', 'NEW.owner')}]);
        END IF;
        RETURN NULL;
      END $$`);
    await runner.query(`
      CREATE TRIGGER task_run_ended AFTER UPDATE OF state ON task FOR EACH ROW
      WHEN (OLD.state NOT IN ${ENDED} AND ${IS_ENDED_RUN}) EXECUTE FUNCTION trigger_run_ended()`);
    await runner.query(`
      CREATE TRIGGER task_run_ended_at_once AFTER INSERT ON task FOR EACH ROW
      WHEN (${IS_ENDED_RUN}) EXECUTE FUNCTION trigger_run_ended()`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TRIGGER task_run_ended_at_once ON task');
    await runner.query('DROP TRIGGER task_run_ended ON task');
    await runner.query('DROP FUNCTION trigger_run_ended');
    await runner.query('DROP INDEX trigger_delivery_run');
    await runner.query('DROP INDEX workflow_trigger_run');
  }
}
