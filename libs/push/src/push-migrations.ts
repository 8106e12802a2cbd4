import type { MigrationInterface, QueryRunner } from 'typeorm';
import { enqueueFrom } from '#libs/jobs';
import { CreatePushLane1700000000930 } from './push-lane-migration.js';

/**
 * Creates `push_queue`. Deliveries wait in queues: one row for each caller and receiver, with the time of its next
 * check (PushDispatcher) and the results of the last attempts at the receiver. A working lane (`push_lane`) belongs to
 * one replica and one queue, and no longer to a job.
 *
 * A replica of the previous version may run concurrently: the functions that it calls make queues due and enqueue no
 * jobs. Its own lanes continue as jobs (`push.serve`), which a replica of this version hands to the queues.
 */
class CreatePushQueue1700000001351 implements MigrationInterface {
  readonly name = 'CreatePushQueue1700000001351';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE push_queue (
        tenant text COLLATE "C" NOT NULL,
        owner text COLLATE "C" NOT NULL,
        receiver text COLLATE "C" NOT NULL,
        -- When to look at it next; null: nothing waits that no lane works off.
        due_at timestamptz,
        -- True if the receiver answered the last attempt of this caller.
        answered boolean NOT NULL DEFAULT false,
        -- Attempts without an answer since the last one with an answer.
        failures integer NOT NULL DEFAULT 0,
        updated_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (tenant, owner, receiver)
      ) WITH (fillfactor = 80)`);
    await runner.query(`
      CREATE INDEX push_queue_due ON push_queue (tenant, owner, answered, due_at) WHERE due_at IS NOT NULL`);
    await runner.query(`
      CREATE INDEX push_config_queue ON push_config (tenant, owner, receiver, due_at) WHERE scheduled AND lane IS NULL`);
    await runner.query(`
      ALTER TABLE push_lane ADD COLUMN replica_id text COLLATE "C", ADD COLUMN tenant text COLLATE "C",
        ADD COLUMN owner text COLLATE "C"`);
    await runner.query(`
      CREATE TABLE push_repeat (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        push_id text COLLATE "C" NOT NULL,
        sequence integer NOT NULL,
        tenant text COLLATE "C" NOT NULL,
        owner text COLLATE "C" NOT NULL,
        receiver text COLLATE "C" NOT NULL,
        -- The lane that has it in hand.
        holder text COLLATE "C"
      )`);
    await runner.query('CREATE INDEX push_repeat_queue ON push_repeat (tenant, owner, receiver, number)');
    await runner.query('CREATE INDEX push_repeat_config ON push_repeat (push_id)');
    for (const statement of [MAKE_DUE, CALL, ENTER, LEAVE]) await runner.query(statement);
    await runner.query(`SELECT push_make_due(receiver) FROM (
      SELECT DISTINCT receiver FROM push_config WHERE scheduled AND receiver IS NOT NULL) AS waiting`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP FUNCTION push_make_due');
    await runner.query('DROP TABLE push_repeat');
    await runner.query('DROP TABLE push_queue');
    await runner.query('DROP INDEX push_config_queue');
    await runner.query('ALTER TABLE push_lane DROP COLUMN replica_id, DROP COLUMN tenant, DROP COLUMN owner');
  }
}

/** Makes the queues of a receiver due, for all callers with waiting deliveries. */
const MAKE_DUE = `
  CREATE FUNCTION push_make_due(called text) RETURNS void LANGUAGE sql AS $$
    INSERT INTO push_queue AS held (tenant, owner, receiver, due_at)
    SELECT tenant, owner, called, min(due_at) FROM push_config
    WHERE receiver = called AND scheduled AND lane IS NULL
    GROUP BY tenant, owner ORDER BY tenant, owner
    ON CONFLICT (tenant, owner, receiver) DO UPDATE
      SET due_at = least(held.due_at, greatest(excluded.due_at, now())), updated_at = now()
  $$`;

/**
 * Replaces the function `push_call`, which replicas of the version with CreatePushLane still call: it now makes the
 * queues of the receiver due, and enqueues no job.
 */
const CALL = `
  CREATE OR REPLACE FUNCTION push_call(called text, lanes integer) RETURNS void LANGUAGE sql AS $$
    SELECT push_make_due(called)
  $$`;

/**
 * Replaces the function `push_enter` of CreatePushLane, with which a job enters a lane (a worker on one queue). Unlike
 * before, enqueues no other job.
 */
const ENTER = `
  CREATE OR REPLACE FUNCTION push_enter(called text, job_holder text, lanes integer) RETURNS smallint
  LANGUAGE plpgsql AS $$
  DECLARE
    entered smallint;
  BEGIN
    UPDATE push_lane SET updated_at = now() WHERE receiver = called AND holder = job_holder RETURNING lane INTO entered;
    FOR free IN 0 .. lanes - 1 LOOP
      EXIT WHEN entered IS NOT NULL;
      INSERT INTO push_lane (receiver, lane, holder) VALUES (called, free, job_holder)
      ON CONFLICT (receiver, lane) DO NOTHING RETURNING lane INTO entered;
    END LOOP;
    UPDATE push_config SET lane = NULL, turn = turn + 1 WHERE receiver = called AND lane = entered;
    RETURN entered;
  END $$`;

/**
 * Replaces `push_leave` of CreatePushLane, by which a lane ends. Unlike before, the lane always ends: the queues of the
 * receiver become due, so that other lanes send the waiting deliveries.
 */
const LEAVE = `
  CREATE OR REPLACE FUNCTION push_leave(called text, job_holder text) RETURNS boolean LANGUAGE plpgsql AS $$
  BEGIN
    DELETE FROM push_lane WHERE receiver = called AND holder = job_holder;
    PERFORM push_make_due(called);
    RETURN true;
  END $$`;

/** Name of the job that wakes the webhooks of Tasks with new events. The database enqueues it; its payload is empty. */
export const WAKE = 'push.wake';

/**
 * Creates `push_waking`. An event of a Task with webhooks appends one row, and its transaction enqueues one job
 * (`push.wake`), however many Tasks it writes and webhooks they have. The transaction takes no locks except those of
 * its own rows, so the journal's statement costs the same for one webhook as for ten. The job wakes the webhooks in
 * portions (PushWaker).
 *
 * A replica of the previous version may run concurrently. It keeps its lanes and jobs. The events that it commits append
 * rows as well, so a replica of this version wakes the webhooks of these events.
 */
class WakePushesByRow1700000001350 implements MigrationInterface {
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

/**
 * Replaces the trigger function `push_wake` of CreatePushLane. Only the first row of a transaction enqueues the job:
 * the session setting `parley.push_waking` records until the end of the transaction that the job was enqueued.
 */
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

/**
 * Creates the table of configs, and the trigger that enqueues their deliveries in the transaction of each event. A
 * Task's row records whether the Task has configs, so an event of any other Task costs one check of a column: the
 * trigger's condition. This record is exact despite concurrent registrations: a registration changes the Task's row
 * first, and the journal's statement, which waits for that row, sees the change.
 */
class CreatePushConfig1700000000700 implements MigrationInterface {
  readonly name = 'CreatePushConfig1700000000700';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE task ADD COLUMN pushes boolean NOT NULL DEFAULT false');
    await runner.query(`
      CREATE TABLE push_config (
        push_id text COLLATE "C" PRIMARY KEY,
        task_id text COLLATE "C" NOT NULL,
        config_id text COLLATE "C" NOT NULL,
        tenant text COLLATE "C" NOT NULL,
        owner text COLLATE "C" NOT NULL,
        url text NOT NULL,
        token text,
        scheme text,
        credentials text,
        wire_version text NOT NULL,
        -- The last event that its receiver has taken.
        delivered_sequence integer NOT NULL,
        -- Whether a job is under way that reads on from there, and which one: older ones do nothing.
        scheduled boolean NOT NULL,
        turn integer NOT NULL,
        -- Failures since the last success.
        attempts integer NOT NULL DEFAULT 0,
        next_attempt_at timestamptz,
        disabled_reason text,
        -- A deleted one stays until its Task goes, so that nothing brings it back; its secrets do not.
        deleted_at timestamptz,
        created_at timestamptz NOT NULL DEFAULT now(),
        updated_at timestamptz NOT NULL DEFAULT now(),
        UNIQUE (task_id, config_id)
      ) WITH (fillfactor = 80)`);
    await runner.query('CREATE INDEX push_config_scheduled ON push_config (updated_at) WHERE scheduled');
    await runner.query(`
      CREATE FUNCTION push_wake() RETURNS trigger LANGUAGE plpgsql AS $$
      DECLARE
        woken json;
      BEGIN
        -- Locked first: a job that is about to find nothing left has to look again.
        PERFORM FROM push_config WHERE task_id = NEW.task_id FOR UPDATE;
        WITH changed AS (
          UPDATE push_config SET scheduled = true, turn = turn + 1, updated_at = now()
          WHERE task_id = NEW.task_id AND NOT scheduled AND disabled_reason IS NULL AND deleted_at IS NULL
          RETURNING push_id, turn
        )
        SELECT json_agg(json_build_object('pushId', push_id, 'turn', turn)) INTO woken FROM changed;
        IF woken IS NOT NULL THEN
          PERFORM jobs FROM (${enqueueFrom(`(
            SELECT 'push.deliver', value, NULL::text, NULL::timestamptz, 25, 5 FROM json_array_elements(woken))`)}
          ) AS queued;
        END IF;
        RETURN NULL;
      END $$`);
    await runner.query(`
      CREATE TRIGGER task_pushes AFTER UPDATE OF last_sequence ON task FOR EACH ROW
      WHEN (NEW.pushes AND NEW.last_sequence <> OLD.last_sequence) EXECUTE FUNCTION push_wake()`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TRIGGER task_pushes ON task');
    await runner.query('DROP FUNCTION push_wake');
    await runner.query('DROP TABLE push_config');
    await runner.query('ALTER TABLE task DROP COLUMN pushes');
  }
}

/** Creates the ledger of deliveries (table `push_delivery`): one row per attempted notification. */
class CreatePushDelivery1700000000710 implements MigrationInterface {
  readonly name = 'CreatePushDelivery1700000000710';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE push_delivery (
        push_id text COLLATE "C" NOT NULL,
        sequence integer NOT NULL,
        task_id text COLLATE "C" NOT NULL,
        tenant text COLLATE "C" NOT NULL,
        owner text COLLATE "C" NOT NULL,
        status text COLLATE "C" NOT NULL,
        attempts integer NOT NULL,
        last_status integer,
        last_error text,
        created_at timestamptz NOT NULL DEFAULT now(),
        updated_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (push_id, sequence)
      ) WITH (fillfactor = 80)`);
    await runner.query(
      'CREATE INDEX push_delivery_newest ON push_delivery (tenant, owner, created_at DESC, push_id DESC, sequence DESC)',
    );
    await runner.query('CREATE INDEX push_delivery_task ON push_delivery (task_id)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE push_delivery');
  }
}

/**
 * Adds a column for sealed secrets. Plain secrets of earlier versions are still read, and sealed after the next start.
 */
class SealPushSecrets1700000000810 implements MigrationInterface {
  readonly name = 'SealPushSecrets1700000000810';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE push_config ADD COLUMN secrets text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE push_config DROP COLUMN secrets');
  }
}

/** Selects the webhooks with undelivered events. */
export const PUSHES_UNDER_WAY = `SELECT FROM push_config WHERE scheduled`;

export const PUSH_MIGRATIONS = [
  CreatePushConfig1700000000700,
  CreatePushDelivery1700000000710,
  SealPushSecrets1700000000810,
  CreatePushLane1700000000930,
  WakePushesByRow1700000001350,
  CreatePushQueue1700000001351,
];
