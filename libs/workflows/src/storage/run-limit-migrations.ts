import type { MigrationInterface, QueryRunner } from 'typeorm';
import { ENDED_TASK } from '#libs/tasks';
import { ADMIT, LOCK_KEY, MOST_ON_DECK, PASS_ON, REQUEST, WAKE } from './run-slot-functions.js';

/** Maximum number of runs that one statement admits where a limit has no concurrency; a job admits the others. */
const MOST_AT_ONCE = 200;
const NO_CONCURRENCY = 2_147_483_647;
/** Job that admits the next runs of a limit with a rate when the next one may begin. */
const PACE = `graphile_worker.add_job('runs.free-slot', json_build_object('gate', of_gate),
      job_key => 'runs.free-slot/pace/' || of_gate, run_at => opens)`;

/**
 * Gives the free slots of a gate to the runs that wait, in order, and wakes them, as the first version of the function
 * did. The gate of a limit (table `flow_gate`) has the values that the limit has now:
 * - Without `concurrency` any number of slots is free. Without the limit, which was deleted, every run begins.
 * - With a rate, `tat` is the theoretical arrival time of the next start (GCRA, by the clock of the database).
 * - A closed gate admits nobody until its time.
 */
const ADMIT_BY_LIMITS = `
  CREATE OR REPLACE FUNCTION admit_runs(of_gate text) RETURNS boolean LANGUAGE plpgsql AS $$
  DECLARE
    slots int;
    free int;
    admitted text[];
    follow text[];
    resting text[];
    own flow_gate;
    rule flow_limit;
    has_rule boolean;
    moment timestamptz := clock_timestamp();
    base timestamptz;
    opens timestamptz;
  BEGIN
    SELECT most INTO slots FROM run_slot WHERE gate = of_gate ORDER BY seq DESC LIMIT 1;
    IF NOT FOUND THEN RETURN true; END IF;
    SELECT * INTO own FROM flow_gate WHERE gate = of_gate;
    has_rule := FOUND;
    IF has_rule THEN
      SELECT * INTO rule FROM flow_limit WHERE tenant = own.tenant AND name = own.name;
      slots := coalesce(rule.concurrency, ${NO_CONCURRENCY});
    END IF;
    IF slots = ${NO_CONCURRENCY} THEN
      free := ${MOST_AT_ONCE};
    ELSE
      SELECT slots - count(*) INTO free FROM run_slot JOIN task USING (task_id)
      WHERE gate = of_gate AND is_held AND NOT ${ENDED_TASK};
      free := least(greatest(free, 0), ${MOST_AT_ONCE});
    END IF;
    IF rule.rate_ms IS NOT NULL THEN
      base := greatest(own.tat, moment);
      free := least(free, greatest(floor(
        rule.rate_burst - extract(epoch FROM base - moment)::float8 * 1000 / rule.rate_ms + 0.001)::int, 0));
    END IF;
    IF own.closed_until > moment THEN free := 0; END IF;
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
    IF rule.rate_ms IS NOT NULL AND admitted <> '{}' THEN
      UPDATE flow_gate SET tat = base + cardinality(admitted) * rule.rate_ms * interval '1 millisecond'
      WHERE gate = of_gate RETURNING tat INTO own.tat;
    END IF;
    IF follow <> '{}' AND has_rule THEN
      opens := gate_opens_at(of_gate);
      IF opens > moment THEN PERFORM ${PACE};
      ELSIF cardinality(admitted) = ${MOST_AT_ONCE} THEN PERFORM ${PASS_ON};
      END IF;
    END IF;
    UPDATE task SET wake_at = now() WHERE task_id = ANY (resting);
    PERFORM ${WAKE}) FROM task WHERE task_id = ANY (resting);
    PERFORM pg_notify('parley_run_slot', json_build_array('', task_id)::text) FROM unnest(admitted) AS given (task_id)
    WHERE task_id <> ALL (resting);
    RETURN true;
  END $$`;

/** Returns the time at which the gate of a limit admits the next run by its rate, or opens again; NULL: at any time. */
const GATE_OPENS_AT = `
  CREATE FUNCTION gate_opens_at(of_gate text) RETURNS timestamptz LANGUAGE sql VOLATILE AS $$
    SELECT greatest(closed_until, tat - (rate_burst - 1) * rate_ms * interval '1 millisecond')
    FROM flow_gate LEFT JOIN flow_limit USING (tenant, name) WHERE gate = of_gate
  $$`;

/**
 * Admits the next runs of the gate of a limit.
 * @returns milliseconds until the gate may admit further runs; NULL if no time limits it
 */
const PACE_GATE = `
  CREATE FUNCTION pace_gate(of_gate text) RETURNS float8 LANGUAGE plpgsql AS $$
  DECLARE is_done boolean;
  BEGIN
    PERFORM pg_advisory_xact_lock(${LOCK_KEY});
    is_done := admit_runs(of_gate);
    RETURN CASE WHEN is_done THEN extract(epoch FROM gate_opens_at(of_gate) - clock_timestamp())::float8 * 1000
      ELSE 50 END;
  END $$`;

/**
 * Requests a slot, as the first version of the function did.
 * @param request members of the first version, and `limit` of the gate's slots; `rule` (`tenant` and `name` of the limit
 * whose gate it is), and `isUnderWay` (true if the work has begun already, so that it takes a slot without waiting)
 */
const REQUEST_BY_LIMITS = REQUEST.replace('CREATE FUNCTION', 'CREATE OR REPLACE FUNCTION')
  .replace(
    'INSERT INTO run_slot (task_id, gate, key, most, tenant, turn)',
    `IF request -> 'rule' IS NOT NULL THEN
      INSERT INTO flow_gate (gate, tenant, name)
      VALUES (of_gate, request -> 'rule' ->> 'tenant', request -> 'rule' ->> 'name')
      ON CONFLICT (gate) DO UPDATE SET used_at = now() WHERE flow_gate.used_at < now() - interval '1 minute';
    END IF;
    INSERT INTO run_slot (task_id, gate, key, most, tenant, turn, is_held)`,
  )
  // A limit has no maximum of its own, since counting its waiting runs would take longer with each of them.
  .replace(
    `(SELECT count(*) FROM (SELECT FROM run_slot`,
    `CASE WHEN request -> 'rule' IS NOT NULL THEN (request ->> 'most')::int = 0 ELSE
       (SELECT count(*) FROM (SELECT FROM run_slot`,
  )
  .replace(`AS few) > (request ->> 'most')::int) THEN`, `AS few) > (request ->> 'most')::int END) THEN`)
  .replace(
    `next_run_turn(of_gate, request ->> 'tenant'))`,
    `next_run_turn(of_gate, request ->> 'tenant'),
            coalesce((request ->> 'isUnderWay')::boolean, false))`,
  );

/** Admits the runs that wait for a limit which has changed, and announces the change to all replicas. */
const LIMIT_CHANGES = `
  CREATE FUNCTION flow_limit_changes() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE changed flow_limit := coalesce(NEW, OLD);
  BEGIN
    PERFORM graphile_worker.add_job('runs.free-slot', json_build_object('gate', gate),
      job_key => 'runs.free-slot/' || gate)
    FROM flow_gate WHERE tenant = changed.tenant AND name = changed.name
      AND EXISTS (SELECT FROM run_slot WHERE run_slot.gate = flow_gate.gate AND NOT is_held);
    PERFORM pg_notify('parley_flow_limit', json_build_array('', '')::text);
    RETURN NULL;
  END $$`;

/**
 * Adds the gates of limits (table `flow_limit`). Runs wait for a limit as they wait for the slots of their workflow.
 */
export class AdmitRunsByLimits1700000001811 implements MigrationInterface {
  readonly name = 'AdmitRunsByLimits1700000001811';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE flow_gate (
        gate text COLLATE "C" PRIMARY KEY,
        tenant text COLLATE "C" NOT NULL,
        name text COLLATE "C" NOT NULL,
        -- Theoretical arrival time of the next start, for a limit with a rate.
        tat timestamptz NOT NULL DEFAULT '-infinity',
        -- Time until which nothing begins, since an agent has asked for a pause.
        closed_until timestamptz,
        used_at timestamptz NOT NULL DEFAULT now()
      )`);
    await runner.query('CREATE INDEX flow_gate_limit ON flow_gate (tenant, name)');
    for (const statement of [GATE_OPENS_AT, ADMIT_BY_LIMITS, PACE_GATE, REQUEST_BY_LIMITS, LIMIT_CHANGES])
      await runner.query(statement);
    await runner.query(`
      CREATE TRIGGER flow_limit_changed AFTER INSERT OR UPDATE OR DELETE ON flow_limit FOR EACH ROW
      EXECUTE FUNCTION flow_limit_changes()`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TRIGGER flow_limit_changed ON flow_limit');
    await runner.query('DROP FUNCTION flow_limit_changes, pace_gate');
    for (const statement of [ADMIT, REQUEST])
      await runner.query(statement.replace('CREATE FUNCTION', 'CREATE OR REPLACE FUNCTION'));
    await runner.query('DROP FUNCTION gate_opens_at');
    await runner.query('DROP TABLE flow_gate');
  }
}

/** Requests a slot, as before; a turn of a registered agent that waits and is `isUnsentTurn` is stored as unsent. */
const REQUEST_FOR_TURNS = REQUEST_BY_LIMITS.replace(
  `IF own.is_held THEN RETURN 'held'; END IF;`,
  `IF own.is_held THEN RETURN 'held'; END IF;
    IF (request ->> 'isUnsentTurn')::boolean THEN
      UPDATE registered_agent_task SET unsent_message = message_id WHERE task_id = of_task;
    END IF;`,
);

/**
 * Passes the slots of a turn at a registered agent on, in the commit in which its Task begins to wait for an answer: the
 * agent works no longer.
 */
const TURN_ENDS = `
  CREATE FUNCTION turn_slot_ends() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE of_gate text;
  BEGIN
    FOR of_gate IN SELECT gate FROM run_slot WHERE task_id = NEW.task_id ORDER BY gate LOOP
      DELETE FROM run_slot WHERE task_id = NEW.task_id AND gate = of_gate;
      IF NOT pg_try_advisory_xact_lock(${LOCK_KEY}) OR NOT admit_runs(of_gate) THEN PERFORM ${PASS_ON}; END IF;
    END LOOP;
    RETURN NULL;
  END $$`;

/** Lets turns at registered agents wait for limits, as runs do. */
export class AdmitTurnsByLimits1700000001812 implements MigrationInterface {
  readonly name = 'AdmitTurnsByLimits1700000001812';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [REQUEST_FOR_TURNS, TURN_ENDS]) await runner.query(statement);
    await runner.query(`
      CREATE TRIGGER turn_slot_ended AFTER UPDATE OF state ON task FOR EACH ROW
      WHEN (NEW.has_run_slot AND NEW.state IN ('TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED')
        AND OLD.state <> NEW.state AND NEW.agent LIKE 'agents/%')
      EXECUTE FUNCTION turn_slot_ends()`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TRIGGER turn_slot_ended ON task');
    await runner.query('DROP FUNCTION turn_slot_ends');
    await runner.query(REQUEST_BY_LIMITS);
  }
}
