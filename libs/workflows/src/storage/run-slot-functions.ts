import type { MigrationInterface, QueryRunner } from 'typeorm';
import { callerFlagSql } from '#libs/jobs';
import { ENDED_TASK } from '#libs/tasks';

/** Maximum number of runs of a gate that wait in the memory of replicas, so that they begin as soon as a slot is free. */
export const MOST_ON_DECK = 16;
export const LOCK_KEY = `hashtextextended('run-slot ' || of_gate, 0)`;
const FLAGS = `flags => ARRAY[${callerFlagSql('task.tenant', 'task.owner')}]`;
export const WAKE = `graphile_worker.add_job('tasks.wake', json_build_object('taskId', task.task_id),
        job_key => 'tasks.wake/' || task.task_id, ${FLAGS}`;
export const PASS_ON = `graphile_worker.add_job('runs.free-slot', json_build_object('gate', of_gate),
      job_key => 'runs.free-slot/' || of_gate)`;

/**
 * Gives the free slots of a gate to the runs that wait, in order, and wakes them. Its caller holds the lock of the gate.
 * - It never waits for the row of a Task, because a batch of the journal may hold rows and the lock of a gate.
 * - Runs on deck wait in the memory of a replica and get a signal. Other runs are parked and get a job.
 * - The runs that follow are woken too, so that they are on deck before the next slot is free.
 * - False if another transaction holds the row of a run that gets a slot; nothing is changed then.
 */
export const ADMIT = `
  CREATE FUNCTION admit_runs(of_gate text) RETURNS boolean LANGUAGE plpgsql AS $$
  DECLARE
    slots int;
    free int;
    admitted text[];
    follow text[];
    resting text[];
  BEGIN
    SELECT most INTO slots FROM run_slot WHERE gate = of_gate ORDER BY seq DESC LIMIT 1;
    IF NOT FOUND THEN RETURN true; END IF;
    SELECT slots - count(*) INTO free FROM run_slot JOIN task USING (task_id)
    WHERE gate = of_gate AND is_held AND NOT ${ENDED_TASK};
    free := greatest(free, 0);
    SELECT coalesce(array_agg(task_id) FILTER (WHERE place <= free), '{}'),
           coalesce(array_agg(task_id) FILTER (WHERE place > free), '{}') INTO admitted, follow
    FROM (
      SELECT task_id, row_number() OVER (ORDER BY turn, seq) AS place FROM run_slot JOIN task USING (task_id)
      WHERE gate = of_gate AND NOT is_held AND NOT ${ENDED_TASK}
      ORDER BY turn, seq LIMIT free + least(slots, ${MOST_ON_DECK})) AS first;
    IF admitted = '{}' AND follow = '{}' THEN RETURN true; END IF;
    resting := ARRAY(
      SELECT task_id FROM task WHERE task_id = ANY (admitted || follow) AND claim_token IS NULL AND wake_at > now()
      FOR NO KEY UPDATE SKIP LOCKED);
    IF EXISTS (
      SELECT FROM task WHERE task_id = ANY (admitted) AND task_id <> ALL (resting) AND claim_token IS NULL
        AND wake_at > now()) THEN RETURN false; END IF;
    UPDATE run_slot SET is_held = true WHERE gate = of_gate AND task_id = ANY (admitted);
    UPDATE task SET wake_at = now() WHERE task_id = ANY (resting);
    PERFORM ${WAKE}) FROM task WHERE task_id = ANY (resting);
    PERFORM pg_notify('parley_run_slot', json_build_array('', task_id)::text) FROM unnest(admitted) AS given (task_id)
    WHERE task_id <> ALL (resting);
    RETURN true;
  END $$`;

/**
 * Passes on the slots of ended runs of a gate, and with `of_waiting` also removes ended runs that waited. False if that
 * must be repeated, since other transactions hold rows.
 */
const PASS_ON_SLOTS = `
  CREATE FUNCTION pass_on_slots(of_gate text, of_waiting boolean) RETURNS boolean LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM pg_advisory_xact_lock(${LOCK_KEY});
    DELETE FROM run_slot USING task
    WHERE run_slot.gate = of_gate AND (run_slot.is_held OR of_waiting) AND task.task_id = run_slot.task_id
      AND ${ENDED_TASK};
    RETURN admit_runs(of_gate);
  END $$`;

/**
 * Requests the cancel of the oldest runs of a gate, so that the newest run has a slot once they have ended. False if
 * that must be repeated, since other transactions hold rows.
 */
const CANCEL_OLDEST = `
  CREATE FUNCTION cancel_oldest_runs(of_gate text, slots int) RETURNS boolean LANGUAGE plpgsql AS $$
  DECLARE
    oldest text[];
    canceled text[];
  BEGIN
    oldest := ARRAY(
      SELECT task_id FROM run_slot JOIN task USING (task_id)
      WHERE gate = of_gate AND NOT ${ENDED_TASK} ORDER BY run_slot.seq DESC OFFSET slots);
    canceled := ARRAY(
      SELECT task_id FROM task WHERE task_id = ANY (oldest) AND cancel_requested_at IS NULL AND NOT ${ENDED_TASK}
      FOR NO KEY UPDATE SKIP LOCKED);
    UPDATE task SET cancel_requested_at = now(), wake_at = least(wake_at, now()) WHERE task_id = ANY (canceled);
    PERFORM ${WAKE}) FROM task WHERE task_id = ANY (canceled);
    RETURN NOT EXISTS (
      SELECT FROM task WHERE task_id = ANY (oldest) AND cancel_requested_at IS NULL AND NOT ${ENDED_TASK});
  END $$`;

/**
 * Requests a slot for a run that an execution has claimed. Returns a SlotOutcome.
 * @param request `tenant`, `key` (for readers), `limit`, `onFull`, `until`, `most` (maximum number of waiting runs) and
 * `mayStay` (true if the replica has room for a run on deck)
 */
export const REQUEST = `
  CREATE FUNCTION request_run_slot(of_task text, of_token text, of_gate text, request json) RETURNS text
  LANGUAGE plpgsql AS $$
  DECLARE
    slots int := (request ->> 'limit')::int;
    on_full text := coalesce(request ->> 'onFull', 'wait');
    is_new boolean;
    is_canceled boolean;
    own run_slot;
  BEGIN
    PERFORM pg_advisory_xact_lock(${LOCK_KEY});
    SELECT cancel_requested_at IS NOT NULL INTO is_canceled FROM task
    WHERE task_id = of_task AND claim_token = of_token AND NOT ${ENDED_TASK} FOR NO KEY UPDATE;
    IF NOT FOUND THEN RETURN 'lost'; END IF;
    IF has_slot_above(of_task, of_gate) THEN RETURN 'held'; END IF;
    INSERT INTO run_slot (task_id, gate, key, most, tenant, turn)
    VALUES (of_task, of_gate, request ->> 'key', slots, request ->> 'tenant',
            next_run_turn(of_gate, request ->> 'tenant'))
    ON CONFLICT (task_id, gate) DO NOTHING;
    is_new := FOUND;
    IF NOT admit_runs(of_gate) THEN PERFORM ${PASS_ON}; END IF;
    SELECT * INTO own FROM run_slot WHERE task_id = of_task AND gate = of_gate;
    IF NOT own.is_held AND is_new AND (on_full = 'skip' OR
       (SELECT count(*) FROM (SELECT FROM run_slot WHERE gate = of_gate AND NOT is_held
                              LIMIT (request ->> 'most')::int + 1) AS few) > (request ->> 'most')::int) THEN
      DELETE FROM run_slot WHERE task_id = of_task AND gate = of_gate;
      RETURN CASE on_full WHEN 'skip' THEN 'full' ELSE 'crowded' END;
    END IF;
    UPDATE task SET has_run_slot = true WHERE task_id = of_task AND NOT has_run_slot;
    IF own.is_held THEN RETURN 'held'; END IF;
    IF is_new AND on_full = 'cancel-oldest' THEN
      IF NOT cancel_oldest_runs(of_gate, slots) THEN
        PERFORM graphile_worker.add_job('runs.free-slot', json_build_object('gate', of_gate, 'keep', slots));
      END IF;
    END IF;
    IF (request ->> 'mayStay')::boolean AND NOT is_canceled AND (
      SELECT count(*) FROM (
        SELECT FROM run_slot WHERE gate = of_gate AND NOT is_held AND (turn, seq) < (own.turn, own.seq)
        LIMIT ${MOST_ON_DECK}) AS before) < least(slots, ${MOST_ON_DECK}) THEN RETURN 'next'; END IF;
    UPDATE task SET replica_id = NULL, claim_token = NULL, wake_at = CASE
      WHEN is_canceled THEN now() ELSE least(now() + interval '1 day', (request ->> 'until')::timestamptz) END
    WHERE task_id = of_task;
    IF request ->> 'until' IS NOT NULL THEN
      PERFORM ${WAKE}, run_at => task.wake_at) FROM task WHERE task_id = of_task;
    END IF;
    RETURN 'parked';
  END $$`;

/**
 * True if a run that waits for this one, at any distance above it, has a slot of the gate. That slot counts for both: if
 * this run waited for another slot, neither could end.
 */
const HAS_SLOT_ABOVE = `
  CREATE FUNCTION has_slot_above(of_task text, of_gate text) RETURNS boolean LANGUAGE sql STABLE AS $$
    WITH RECURSIVE above AS (
      SELECT parent_task_id AS task_id FROM task WHERE task_id = of_task
      UNION SELECT task.parent_task_id FROM above JOIN task USING (task_id)
    )
    SELECT EXISTS (SELECT FROM above JOIN run_slot USING (task_id) WHERE gate = of_gate AND is_held)
  $$`;

/**
 * Returns the turn of a run that enters a gate. Tenants take turns: the first waiting run of a tenant has the turn that
 * is next, and each further one the turn after it. Runs of one turn are in the order in which they came.
 */
const NEXT_TURN = `
  CREATE FUNCTION next_run_turn(of_gate text, of_tenant text) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT greatest(
      (SELECT turn + 1 FROM run_slot WHERE tenant = of_tenant AND gate = of_gate AND NOT is_held
       ORDER BY turn DESC LIMIT 1),
      (SELECT turn FROM run_slot WHERE gate = of_gate AND NOT is_held ORDER BY turn, seq LIMIT 1), 0)
  $$`;

/**
 * Passes the slot of an ended run on in the commit that ends the run. A job does so if another transaction holds the
 * gate, or the row of the next run.
 */
const RUN_SLOT_ENDS = `
  CREATE OR REPLACE FUNCTION run_slot_ends() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE of_gate text;
  BEGIN
    DELETE FROM run_slot WHERE task_id = NEW.task_id AND gate IN (
      SELECT gate FROM run_slot WHERE task_id = NEW.task_id AND NOT is_held FOR UPDATE SKIP LOCKED);
    FOR of_gate IN SELECT gate FROM run_slot WHERE task_id = NEW.task_id ORDER BY gate LOOP
      IF pg_try_advisory_xact_lock(${LOCK_KEY}) AND admit_runs(of_gate) THEN
        DELETE FROM run_slot WHERE task_id = NEW.task_id AND gate = of_gate;
      ELSE
        PERFORM ${PASS_ON};
      END IF;
    END LOOP;
    RETURN NULL;
  END $$`;

/**
 * Changes how slots are passed on: the commit that ends a run gives its slot to the next one. Adds the tenant, for the
 * maximum number of waiting runs of a tenant.
 */
export class AdmitRunsAtOnce1700000001800 implements MigrationInterface {
  readonly name = 'AdmitRunsAtOnce1700000001800';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE run_slot ADD COLUMN tenant text COLLATE "C" NOT NULL DEFAULT '',
        ADD COLUMN turn bigint NOT NULL DEFAULT 0`);
    await runner.query('DROP INDEX run_slot_waiting');
    await runner.query('CREATE INDEX run_slot_waiting ON run_slot (gate, turn, seq) WHERE NOT is_held');
    await runner.query('CREATE INDEX run_slot_of_tenant ON run_slot (tenant, gate, turn) WHERE NOT is_held');
    await runner.query('ALTER TABLE run_slot DROP CONSTRAINT run_slot_pkey, ADD PRIMARY KEY (task_id, gate)');
    for (const statement of [ADMIT, PASS_ON_SLOTS, CANCEL_OLDEST, HAS_SLOT_ABOVE, NEXT_TURN, REQUEST, RUN_SLOT_ENDS])
      await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE OR REPLACE FUNCTION run_slot_ends() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM graphile_worker.add_job('runs.free-slot', json_build_object('taskId', NEW.task_id),
                                        job_key => 'runs.free-slot/' || NEW.task_id);
        RETURN NULL;
      END $$`);
    await runner.query(
      'DROP FUNCTION request_run_slot, next_run_turn, has_slot_above, cancel_oldest_runs, pass_on_slots, admit_runs',
    );
    await runner.query('DROP INDEX run_slot_of_tenant');
    await runner.query('ALTER TABLE run_slot DROP CONSTRAINT run_slot_pkey, ADD PRIMARY KEY (task_id)');
    await runner.query('DROP INDEX run_slot_waiting');
    await runner.query('ALTER TABLE run_slot DROP COLUMN turn, DROP COLUMN tenant');
    await runner.query('CREATE INDEX run_slot_waiting ON run_slot (gate, seq) WHERE NOT is_held');
  }
}
