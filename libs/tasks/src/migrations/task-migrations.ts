import type { MigrationInterface, QueryRunner } from 'typeorm';
import { AppendTaskCounts1700000000310, CreateTaskCount1700000000131 } from './count-migrations.js';
import {
  CreateTaskPrompt1700000001410,
  FindEventsByRow1700000000520,
  ReadLogPhrases1700000000143,
  ShareLogRows1700000000142,
} from './log-migrations.js';
import { CreateRunBudget1700000001680 } from './budget-migrations.js';
import { CountCacheWrites1700000001670, CreateUsage1700000001430 } from './usage-migrations.js';
import {
  AddStateToAgentOrder1700000001590,
  AddTaskWake1700000000140,
  CreateTaskQuestion1700000000141,
  IndexTaskWake1700000000941,
  IndexTaskWakeCaller1700000001380,
  IndexUntimedTasks1700000000343,
  KeepOpenQuestions1700000000430,
  OrderTasksByAge1700000000942,
  WakeStrandedTasks1700000001360,
} from './waiting-migrations.js';

/**
 * Changes how journals number their commits: they no longer update `task_writer.position` with each commit. That column
 * is then the position at which the writer's session began.
 * - Replicas of the previous version expect the newest position in `task_writer`. While such a replica is present (see
 *   the table `replica`), journals update the position as before (see reportedSql in journal-sql.ts).
 * - When such a replica joins, a trigger updates the positions before the replica is admitted. The trigger's lock waits
 *   for statements that do not see the new replica yet.
 */
class FenceCommits1700000000312 implements MigrationInterface {
  readonly name = 'FenceCommits1700000000312';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE FUNCTION task_writer_tell() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        LOCK TABLE task_commit IN SHARE MODE;
        UPDATE task_writer AS held SET position = newest.position
        FROM (SELECT writer, (SELECT max(position) FROM task_commit WHERE task_commit.writer = known.writer) AS position
              FROM task_writer AS known) AS newest
        WHERE held.writer = newest.writer AND held.position < newest.position;
        RETURN NULL;
      END $$`);
    await runner.query(`
      CREATE TRIGGER replica_of_before AFTER INSERT OR UPDATE OF lock_key ON replica FOR EACH ROW
      WHEN (NEW.generation IS NULL) EXECUTE FUNCTION task_writer_tell()`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TRIGGER replica_of_before ON replica');
    await runner.query('DROP FUNCTION task_writer_tell');
    await runner.query(`
      UPDATE task_writer AS held SET position = newest.position
      FROM (SELECT writer, max(position) AS position FROM task_commit GROUP BY writer) AS newest
      WHERE held.writer = newest.writer AND held.position < newest.position`);
  }
}

/**
 * Index for a replica's Tasks with a cancel request, so that not all its Tasks are scanned. Created without blocking
 * writers.
 */
class IndexCancelRequests1700000000313 implements MigrationInterface {
  readonly name = 'IndexCancelRequests1700000000313';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS task_cancel_requested');
    await runner.query(`
      CREATE INDEX CONCURRENTLY task_cancel_requested ON task (replica_id)
      WHERE replica_id IS NOT NULL AND cancel_requested_at IS NOT NULL`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX CONCURRENTLY task_cancel_requested');
  }
}

/**
 * Adds columns for the sizes of logs, so that readers know them in advance. A size is null if it is unknown; readers
 * then measure the log. If an earlier version continues a Task, it does not count the bytes, and the size becomes
 * unknown.
 */
class AddTaskSize1700000000130 implements MigrationInterface {
  readonly name = 'AddTaskSize1700000000130';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE task ADD COLUMN log_bytes integer, ADD COLUMN artifact_bytes integer');
    await runner.query(`
      CREATE FUNCTION task_forget_size() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        NEW.log_bytes := NULL;
        NEW.artifact_bytes := NULL;
        RETURN NEW;
      END $$`);
    // Every event has bytes, so a writer that counts always increases the size.
    await runner.query(`
      CREATE TRIGGER task_uncounted BEFORE UPDATE OF last_sequence ON task FOR EACH ROW
      WHEN (NEW.last_sequence <> OLD.last_sequence AND OLD.log_bytes IS NOT NULL
            AND NEW.log_bytes IS NOT DISTINCT FROM OLD.log_bytes)
      EXECUTE FUNCTION task_forget_size()`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TRIGGER task_uncounted ON task');
    await runner.query('DROP FUNCTION task_forget_size');
    await runner.query('ALTER TABLE task DROP COLUMN log_bytes, DROP COLUMN artifact_bytes');
  }
}

/**
 * Adds a column that marks events of Artifacts, so that readers without Artifacts can skip them; it is null in earlier
 * rows. This migration is separate from the one that adds the sizes: a purge locks a log and then its Task, so one
 * migration that locks the tables in the other order could deadlock with a purge.
 */
class AddArtifactEvents1700000000133 implements MigrationInterface {
  readonly name = 'AddArtifactEvents1700000000133';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE task_event ADD COLUMN IF NOT EXISTS artifact boolean');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE task_event DROP COLUMN artifact');
  }
}

const ENDED = `('TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED')`;

/** Creates the tables of Tasks and their logs. Ids are compared as bytes, independent of any language. */
class CreateTask1700000000100 implements MigrationInterface {
  readonly name = 'CreateTask1700000000100';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE task (
        task_id text COLLATE "C" PRIMARY KEY,
        context_id text COLLATE "C" NOT NULL,
        tenant text COLLATE "C" NOT NULL,
        owner text COLLATE "C" NOT NULL,
        agent text COLLATE "C" NOT NULL,
        state text COLLATE "C" NOT NULL,
        last_sequence integer NOT NULL CHECK (last_sequence > 0),
        parent_task_id text COLLATE "C",
        parent_reference text COLLATE "C",
        -- Who executes it: both are null unless some replica does.
        replica_id text COLLATE "C",
        claim_token text COLLATE "C",
        created_at timestamptz NOT NULL,
        updated_at timestamptz NOT NULL,
        CHECK ((replica_id IS NULL) = (claim_token IS NULL))
      ) WITH (fillfactor = 80)`);
    // ListTasks at one agent, and at the service.
    await runner.query('CREATE INDEX task_agent_updated ON task (tenant, owner, agent, updated_at DESC, task_id DESC)');
    await runner.query('CREATE INDEX task_owner_updated ON task (tenant, owner, updated_at DESC, task_id DESC)');
    await runner.query('CREATE INDEX task_context ON task (context_id)');
    await runner.query('CREATE INDEX task_parent ON task (parent_task_id) WHERE parent_task_id IS NOT NULL');
    await runner.query('CREATE INDEX task_replica ON task (replica_id) WHERE replica_id IS NOT NULL');
    // json instead of jsonb: a caller's text is stored as it was sent, including \\u0000, which jsonb rejects.
    await runner.query(`
      CREATE TABLE task_event (
        task_id text COLLATE "C" NOT NULL,
        sequence integer NOT NULL,
        payload json NOT NULL,
        received json,
        recorded_at timestamptz NOT NULL,
        PRIMARY KEY (task_id, sequence)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE task_event');
    await runner.query('DROP TABLE task');
  }
}

/** Adds a column for the cancel request of a caller. The replica that executes the Task reads it. */
class AddCancelRequest1700000000101 implements MigrationInterface {
  readonly name = 'AddCancelRequest1700000000101';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE task ADD COLUMN cancel_requested_at timestamptz');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE task DROP COLUMN cancel_requested_at');
  }
}

/** Creates the table of idempotency keys and the Tasks that they created. */
class CreateTaskKey1700000000102 implements MigrationInterface {
  readonly name = 'CreateTaskKey1700000000102';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE task_key (
        tenant text COLLATE "C" NOT NULL,
        owner text COLLATE "C" NOT NULL,
        agent text COLLATE "C" NOT NULL,
        key text COLLATE "C" NOT NULL,
        fingerprint text COLLATE "C" NOT NULL,
        task_id text COLLATE "C" NOT NULL,
        created_at timestamptz NOT NULL,
        PRIMARY KEY (tenant, owner, agent, key)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE task_key');
  }
}

/** Adds the sequence of the event that accepted the Message of a key, since follow-up Messages have keys too. */
class AddKeySequence1700000000103 implements MigrationInterface {
  readonly name = 'AddKeySequence1700000000103';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE task_key ADD COLUMN sequence integer NOT NULL DEFAULT 1');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE task_key DROP COLUMN sequence');
  }
}

/**
 * Makes the database enforce that ended Tasks do not change and get no events. The journal's sessions identify
 * themselves and skip the second check, because their statements write events only together with the Task's row, which
 * the first check guards.
 */
class GuardEndedTasks1700000000110 implements MigrationInterface {
  readonly name = 'GuardEndedTasks1700000000110';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE FUNCTION task_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        RAISE EXCEPTION 'Task % has ended as % and does not change any more', OLD.task_id, OLD.state
          USING ERRCODE = 'check_violation', TABLE = 'task';
      END $$`);
    await runner.query(`
      CREATE TRIGGER task_final BEFORE UPDATE OF task_id, state, last_sequence ON task FOR EACH ROW
      WHEN (OLD.state IN ${ENDED} AND (NEW.task_id, NEW.state, NEW.last_sequence)
            IS DISTINCT FROM (OLD.task_id, OLD.state, OLD.last_sequence))
      EXECUTE FUNCTION task_refuse_change()`);
    await runner.query(`
      CREATE FUNCTION task_event_refuse_late() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF EXISTS (SELECT FROM task WHERE task_id = NEW.task_id AND state IN ${ENDED}) THEN
          RAISE EXCEPTION 'Task % has ended and takes no more events', NEW.task_id
            USING ERRCODE = 'check_violation', TABLE = 'task_event';
        END IF;
        RETURN NEW;
      END $$`);
    await runner.query(`
      CREATE TRIGGER task_event_late BEFORE INSERT ON task_event FOR EACH ROW
      WHEN (current_setting('parley.journal', true) IS DISTINCT FROM 'on')
      EXECUTE FUNCTION task_event_refuse_late()`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TRIGGER task_event_late ON task_event');
    await runner.query('DROP FUNCTION task_event_refuse_late');
    await runner.query('DROP TRIGGER task_final ON task');
    await runner.query('DROP FUNCTION task_refuse_change');
  }
}

/** Creates the commit log (see CommitLog). */
class CreateTaskCommit1700000000120 implements MigrationInterface {
  readonly name = 'CreateTaskCommit1700000000120';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE task_writer (
        writer text COLLATE "C" PRIMARY KEY,
        position bigint NOT NULL
      ) WITH (fillfactor = 50)`);
    await runner.query(`
      CREATE TABLE task_commit (
        writer text COLLATE "C" NOT NULL,
        position bigint NOT NULL,
        -- The Tasks whose logs it moved, and from where to where.
        task_ids text[] COLLATE "C" NOT NULL,
        afters integer[] NOT NULL,
        last_sequences integer[] NOT NULL,
        committed_at timestamptz NOT NULL,
        PRIMARY KEY (writer, position)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE task_commit');
    await runner.query('DROP TABLE task_writer');
  }
}

/**
 * Creates the table of snapshots. A snapshot is a Task with a long log that has ended or waits, in its state after the
 * event with the sequence `sequence`. A snapshot is deleted with its Task.
 */
class CreateTaskSnapshot1700000000132 implements MigrationInterface {
  readonly name = 'CreateTaskSnapshot1700000000132';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE task_snapshot (
        task_id text COLLATE "C" PRIMARY KEY REFERENCES task ON DELETE CASCADE,
        sequence integer NOT NULL,
        -- Without its Artifacts: lists that show none read none.
        task json NOT NULL,
        artifacts json
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE task_snapshot');
  }
}

/**
 * Creates the index by which a purge finds old idempotency keys without scanning the whole table. It is created without
 * blocking writers, hence without a transaction. An interrupted attempt is started over.
 */
class IndexTaskKeyAge1700000000940 implements MigrationInterface {
  readonly name = 'IndexTaskKeyAge1700000000940';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS task_key_age');
    await runner.query('CREATE INDEX CONCURRENTLY task_key_age ON task_key (created_at)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX CONCURRENTLY task_key_age');
  }
}

/**
 * Index for the runs of each state, newest first, so that lists of runs read neither Tasks of nodes nor runs of other
 * states. Created without blocking writers. The condition is `IS_TOP_RUN` as it was then.
 */
class IndexRunStates1700000001510 implements MigrationInterface {
  readonly name = 'IndexRunStates1700000001510';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS task_run_state');
    await runner.query(`
      CREATE INDEX CONCURRENTLY task_run_state ON task (tenant, owner, state, updated_at DESC, task_id DESC)
      WHERE starts_with(agent, 'workflows/') AND strpos(substr(agent, 11), '/') = 0`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX CONCURRENTLY task_run_state');
  }
}

export const TASK_MIGRATIONS = [
  CreateTask1700000000100,
  AddCancelRequest1700000000101,
  CreateTaskKey1700000000102,
  AddKeySequence1700000000103,
  GuardEndedTasks1700000000110,
  CreateTaskCommit1700000000120,
  AddTaskSize1700000000130,
  CreateTaskCount1700000000131,
  CreateTaskSnapshot1700000000132,
  AddArtifactEvents1700000000133,
  AddTaskWake1700000000140,
  CreateTaskQuestion1700000000141,
  ShareLogRows1700000000142,
  ReadLogPhrases1700000000143,
  AppendTaskCounts1700000000310,
  FenceCommits1700000000312,
  IndexCancelRequests1700000000313,
  IndexTaskKeyAge1700000000940,
  IndexTaskWake1700000000941,
  OrderTasksByAge1700000000942,
  IndexUntimedTasks1700000000343,
  KeepOpenQuestions1700000000430,
  FindEventsByRow1700000000520,
  WakeStrandedTasks1700000001360,
  IndexTaskWakeCaller1700000001380,
  CreateTaskPrompt1700000001410,
  CreateUsage1700000001430,
  IndexRunStates1700000001510,
  AddStateToAgentOrder1700000001590,
  CountCacheWrites1700000001670,
  CreateRunBudget1700000001680,
];
