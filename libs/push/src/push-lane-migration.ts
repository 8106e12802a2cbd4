import { enqueueFrom } from '#libs/jobs';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * SQL expression for the receiver of a URL, for rows without `receiver`. It equals the URL's origin as JavaScript
 * computes it, except for URLs in rare spellings.
 */
export const RECEIVER_OF_URL = `lower(coalesce(substring(url FROM '^[^:/]+://[^/?#]+'), url))`;

/**
 * SQL of the key of a receiver's advisory lock. A transaction that makes configs of the receiver due holds the lock
 * shared; a transaction that ends a lane of the receiver holds it exclusively.
 */
const LANE_LOCK = `hashtextextended('parley push ' || called, 0)`;

/**
 * Returns the SQL of a job key for a lane that begins at `runAt`. The job queue merges jobs with equal keys, so there
 * is one job per receiver and time. `runAt` must be in the future by the database's clock: a running job then never has
 * the same key. If a running job had it, the queue would drop the new job when the replica of the running job died.
 */
const keyFor = (receiver: string, runAt: string): string =>
  `'push.serve ' || md5(${receiver}) || ' ' || extract(epoch FROM ${runAt})`;

const SERVE = (runAt: string, key: string): string =>
  enqueueFrom(`(SELECT 'push.serve', json_build_object('receiver', called, 'holder', gen_random_uuid()),
    ${key}, ${runAt}, 25, 5)`);

/**
 * Creates `push_lane`. Deliveries wait in `push_config` for a lane of their receiver.
 * - A row of `push_lane` is a working lane: a job holds the lane, and keeps it across retries.
 * - The transaction that makes a config due enqueues a job for a lane, unless all lanes work.
 * - The transaction that ends an idle lane locks out transactions that make configs of the receiver due.
 *
 * A waiting config therefore has a working lane, a job that will hold a lane, or a due time.
 */
export class CreatePushLane1700000000930 implements MigrationInterface {
  readonly name = 'CreatePushLane1700000000930';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE push_config
        ADD COLUMN receiver text COLLATE "C",
        -- Scheduled ones: not before, and in this order; and the lane that has it in hand.
        ADD COLUMN due_at timestamptz,
        ADD COLUMN lane smallint`);
    await runner.query(`
      CREATE INDEX push_config_waiting ON push_config (receiver, due_at) WHERE scheduled AND lane IS NULL`);
    await runner.query('CREATE INDEX push_config_lane ON push_config (receiver, lane) WHERE lane IS NOT NULL');
    await runner.query(`
      CREATE TABLE push_lane (
        receiver text COLLATE "C" NOT NULL,
        lane smallint NOT NULL,
        -- What its job is called in its own payload.
        holder text COLLATE "C" NOT NULL,
        updated_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (receiver, lane)
      ) WITH (fillfactor = 50)`);
    for (const statement of [CALL, WAKE, ENTER, LEAVE]) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP FUNCTION push_leave, push_enter, push_call');
    await runner.query('DROP TABLE push_lane');
    await runner.query('ALTER TABLE push_config DROP COLUMN receiver, DROP COLUMN due_at, DROP COLUMN lane');
  }
}

/**
 * SQL function: enqueues a job that opens a lane for a receiver, at most once per transaction. Does nothing if the
 * receiver has the maximum number of lanes. The shared lock (LANE_LOCK) prevents these lanes from ending before the
 * commit, so they find the new deliveries.
 */
const CALL = `
  CREATE FUNCTION push_call(called text, lanes integer) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    before text := coalesce(current_setting('parley.push_called', true), '');
  BEGIN
    IF position(md5(called) IN before) > 0 THEN
      RETURN;
    END IF;
    PERFORM pg_advisory_xact_lock_shared(${LANE_LOCK});
    IF (SELECT count(*) FROM push_lane WHERE receiver = called) < lanes THEN
      PERFORM jobs FROM (${SERVE('NULL::timestamptz', 'NULL::text')}) AS queued;
    END IF;
    PERFORM set_config('parley.push_called', before || md5(called), true);
  END $$`;

/**
 * Replaces the trigger function `push_wake` of CreatePushConfig: for each new event of a Task, makes the configs of the
 * Task due, and requests a lane for each of their receivers (`push_call`).
 */
const WAKE = `
  CREATE OR REPLACE FUNCTION push_wake() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    woken text;
  BEGIN
    -- Locked first: whoever is about to find nothing left has to look again.
    PERFORM FROM push_config WHERE task_id = NEW.task_id FOR UPDATE;
    FOR woken IN
      WITH changed AS (
        UPDATE push_config SET scheduled = true, turn = turn + 1, receiver = coalesce(receiver, ${RECEIVER_OF_URL}),
          due_at = now(), lane = NULL, updated_at = now()
        WHERE task_id = NEW.task_id AND NOT scheduled AND disabled_reason IS NULL AND deleted_at IS NULL
        RETURNING receiver
      )
      SELECT DISTINCT receiver FROM changed
    LOOP
      PERFORM push_call(woken, 2);
    END LOOP;
    RETURN NULL;
  END $$`;

/**
 * SQL function: returns the number of the lane that the job holds; if it holds none, gives it a free lane. Returns null
 * if all lanes are taken. If several configs are due and a lane is free, enqueues another job.
 */
const ENTER = `
  CREATE FUNCTION push_enter(called text, job_holder text, lanes integer) RETURNS smallint LANGUAGE plpgsql AS $$
  DECLARE
    entered smallint;
  BEGIN
    UPDATE push_lane SET updated_at = now() WHERE receiver = called AND holder = job_holder RETURNING lane INTO entered;
    FOR free IN 0 .. lanes - 1 LOOP
      EXIT WHEN entered IS NOT NULL;
      INSERT INTO push_lane (receiver, lane, holder) VALUES (called, free, job_holder)
      ON CONFLICT (receiver, lane) DO NOTHING RETURNING lane INTO entered;
    END LOOP;
    -- What a process had in hand that died in this lane.
    UPDATE push_config SET lane = NULL, turn = turn + 1 WHERE receiver = called AND lane = entered;
    IF entered IS NOT NULL AND (SELECT count(*) FROM push_lane WHERE receiver = called) < lanes AND (
      SELECT count(*) FROM (
        SELECT FROM push_config WHERE receiver = called AND scheduled AND lane IS NULL AND due_at <= now() LIMIT 2
      ) AS due) > 1 THEN
      PERFORM jobs FROM (${SERVE('NULL::timestamptz', 'NULL::text')}) AS queued;
    END IF;
    RETURN entered;
  END $$`;

/**
 * Ends a lane (a worker on one queue) if nothing is due, and schedules a job for the next due time. Returns true if the
 * lane ended.
 */
const LEAVE = `
  CREATE FUNCTION push_leave(called text, job_holder text) RETURNS boolean LANGUAGE plpgsql AS $$
  DECLARE
    next_at timestamptz;
  BEGIN
    -- Not waited for: commits would queue up behind whoever waits.
    IF NOT pg_try_advisory_xact_lock(${LANE_LOCK}) THEN
      RETURN false;
    END IF;
    SELECT min(due_at) INTO next_at FROM push_config WHERE receiver = called AND scheduled AND lane IS NULL;
    IF next_at <= clock_timestamp() THEN
      RETURN false;
    END IF;
    DELETE FROM push_lane WHERE receiver = called AND holder = job_holder;
    IF next_at IS NOT NULL THEN
      PERFORM jobs FROM (${SERVE('next_at', keyFor('called', 'next_at'))}) AS queued;
    END IF;
    RETURN true;
  END $$`;
