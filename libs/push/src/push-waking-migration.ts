import { enqueueFrom } from '#libs/jobs';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { WAKE } from './wake-job.js';

/**
 * Adds `push_waking`. An event of a Task with webhooks appends one row, and its transaction enqueues one job
 * (`push.wake`), however many Tasks it writes and webhooks they have. It takes no locks except those of its own rows,
 * so the journal's statement costs the same for one webhook as for ten. The job wakes the webhooks in portions
 * (PushWaker).
 *
 * A replica of the previous version may run concurrently: it keeps its lanes and jobs, and a replica of this version
 * wakes the webhooks of its commits.
 */
export class WakePushesByRow1700000001350 implements MigrationInterface {
  readonly name = 'WakePushesByRow1700000001350';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE push_waking (
        tenant text COLLATE "C" NOT NULL,
        owner text COLLATE "C" NOT NULL,
        number bigint GENERATED ALWAYS AS IDENTITY,
        task_id text COLLATE "C" NOT NULL,
        PRIMARY KEY (tenant, owner, number)
      )`);
    await runner.query(APPEND);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE push_waking');
  }
}

/** Replaces the function of CreatePushLane. The setting lasts for the transaction: its first row enqueues the job. */
const APPEND = `
  CREATE OR REPLACE FUNCTION push_wake() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO push_waking (tenant, owner, task_id) VALUES (NEW.tenant, NEW.owner, NEW.task_id);
    IF coalesce(current_setting('parley.push_waking', true), '') = '' THEN
      PERFORM jobs FROM (${enqueueFrom(`(
        SELECT '${WAKE}', '{}'::json, NULL::text, NULL::timestamptz, 25, 1)`)}) AS queued;
      PERFORM set_config('parley.push_waking', 'enqueued', true);
    END IF;
    RETURN NULL;
  END $$`;
