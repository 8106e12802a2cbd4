import { enqueueFrom } from '#libs/jobs';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { CreatePushLane1700000000930 } from './push-lane-migration.js';
import { CreatePushQueue1700000001351 } from './push-queue-migration.js';
import { WakePushesByRow1700000001350 } from './push-waking-migration.js';

/**
 * Creates the configs of Tasks, and the trigger that wakes them. A Task's row records whether it has configs, so an
 * event of any other Task costs one check of a column: the trigger's condition. The trigger enqueues in the event's
 * transaction. It is exact despite concurrent registrations: a registration changes the Task's row first, and the
 * journal's statement, which waits for that row, sees the change.
 */
export class CreatePushConfig1700000000700 implements MigrationInterface {
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

/** Creates the ledger: one row per attempted notification. */
export class CreatePushDelivery1700000000710 implements MigrationInterface {
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
export class SealPushSecrets1700000000810 implements MigrationInterface {
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
