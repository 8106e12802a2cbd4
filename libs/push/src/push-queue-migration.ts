import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Deliveries wait in queues: a row of `push_queue` for each caller and receiver, with the time of its next check
 * (PushDispatcher), and what is known of the receiver. A working lane (`push_lane`) belongs to a replica, and to its
 * queue. No job holds it.
 *
 * A replica of the previous version may run concurrently: the functions that it calls make queues due and enqueue no
 * jobs. Its own lanes continue as jobs (`push.serve`), which a replica of this version hands to the queues.
 */
export class CreatePushQueue1700000001351 implements MigrationInterface {
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

/** Replaces the function of CreatePushLane, for replicas of that version. */
const CALL = `
  CREATE OR REPLACE FUNCTION push_call(called text, lanes integer) RETURNS void LANGUAGE sql AS $$
    SELECT push_make_due(called)
  $$`;

/** Replaces the function by which a job of that version enters a lane; it requests no other lane. */
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

/** Replaces the function by which a lane of that version ends; the rest is left to the queues. */
const LEAVE = `
  CREATE OR REPLACE FUNCTION push_leave(called text, job_holder text) RETURNS boolean LANGUAGE plpgsql AS $$
  BEGIN
    DELETE FROM push_lane WHERE receiver = called AND holder = job_holder;
    PERFORM push_make_due(called);
    RETURN true;
  END $$`;
