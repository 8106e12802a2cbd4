import type { MigrationInterface, QueryRunner } from 'typeorm';

const ENDED = `('TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED')`;

/**
 * Adds the time at which a parked Task (one that only waits for a time) is due; null if its last event did not park it.
 * An earlier version that resumes a parked Task does not change the time. The time therefore counts only while no
 * replica has claimed the Task and it has not ended.
 */
export class AddTaskWake1700000000140 implements MigrationInterface {
  readonly name = 'AddTaskWake1700000000140';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE task ADD COLUMN IF NOT EXISTS wake_at timestamptz');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE task DROP COLUMN wake_at');
  }
}

/**
 * Creates the index for due Tasks and for all parked Tasks (Tasks that only wait for a time), without blocking writers.
 */
export class IndexTaskWake1700000000941 implements MigrationInterface {
  readonly name = 'IndexTaskWake1700000000941';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS task_wake');
    await runner.query(`
      CREATE INDEX CONCURRENTLY task_wake ON task (wake_at) INCLUDE (agent, state)
      WHERE wake_at IS NOT NULL AND replica_id IS NULL AND state NOT IN ${ENDED}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX CONCURRENTLY task_wake');
  }
}

/**
 * Makes working Tasks that no replica has claimed due now, so that a replica resumes them. Earlier versions could leave
 * such Tasks: they released a Task when its event was not stored in time, but the event was stored afterwards.
 */
export class WakeStrandedTasks1700000001360 implements MigrationInterface {
  readonly name = 'WakeStrandedTasks1700000001360';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      UPDATE task SET wake_at = now()
      WHERE replica_id IS NULL AND wake_at IS NULL AND state IN ('TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING')`);
  }

  /** Does nothing: Tasks that are due stay due. */
  async down(): Promise<void> {}
}

/**
 * Creates the index for the parked Tasks (Tasks that only wait for a time) of each caller, without blocking writers.
 */
export class IndexTaskWakeCaller1700000001380 implements MigrationInterface {
  readonly name = 'IndexTaskWakeCaller1700000001380';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS task_wake_caller');
    await runner.query(`
      CREATE INDEX CONCURRENTLY task_wake_caller ON task (tenant, owner, wake_at)
      WHERE wake_at IS NOT NULL AND replica_id IS NULL AND state NOT IN ${ENDED}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX CONCURRENTLY task_wake_caller');
  }
}

const WAITING = `('TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED')`;
const ENDED_STATES = `('TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED')`;

/**
 * Creates the table of questions of waiting Tasks (see TaskQuestions). The rows of a Task are deleted in the statement
 * that ends its wait, even if an earlier version writes the Task.
 */
export class CreateTaskQuestion1700000000141 implements MigrationInterface {
  readonly name = 'CreateTaskQuestion1700000000141';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE task_question (
        task_id text COLLATE "C" NOT NULL REFERENCES task ON DELETE CASCADE,
        key text COLLATE "C" NOT NULL,
        tenant text COLLATE "C" NOT NULL,
        owner text COLLATE "C" NOT NULL,
        agent text COLLATE "C" NOT NULL,
        assignee text COLLATE "C",
        since timestamptz NOT NULL,
        body json NOT NULL,
        PRIMARY KEY (task_id, key)
      )`);
    await runner.query('CREATE INDEX task_question_owner ON task_question (tenant, owner, since, task_id, key)');
    await runner.query(`
      CREATE INDEX task_question_assignee ON task_question (tenant, owner, assignee, since, task_id, key)
      WHERE assignee IS NOT NULL`);
    await runner.query(`
      CREATE FUNCTION task_asks_no_more() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        DELETE FROM task_question WHERE task_id = OLD.task_id;
        RETURN NULL;
      END $$`);
    await runner.query(`
      CREATE TRIGGER task_answered AFTER UPDATE OF state ON task FOR EACH ROW
      WHEN (OLD.state IN ${WAITING} AND NEW.state NOT IN ${WAITING})
      EXECUTE FUNCTION task_asks_no_more()`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TRIGGER task_answered ON task');
    await runner.query('DROP FUNCTION task_asks_no_more');
    await runner.query('DROP TABLE task_question');
  }
}

/**
 * Lets journals of this version keep the stored questions of a Task that resumes, so that questions which stay open
 * need not be written again. When the Task waits again, is parked or ends, the journal deletes the questions that are
 * no longer open. For all other writers (earlier versions and manual changes), the trigger deletes the questions when
 * the Task resumes.
 */
export class KeepOpenQuestions1700000000430 implements MigrationInterface {
  readonly name = 'KeepOpenQuestions1700000000430';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE OR REPLACE TRIGGER task_answered AFTER UPDATE OF state ON task FOR EACH ROW
      WHEN (NEW.state NOT IN ${WAITING} AND (OLD.state IN ${WAITING} OR NEW.state IN ${ENDED_STATES})
            AND current_setting('parley.questions', true) IS DISTINCT FROM 'kept')
      EXECUTE FUNCTION task_asks_no_more()`);
  }

  /**
   * Deletes the questions that are kept although their Tasks have resumed: an earlier version would list them as open.
   */
  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE OR REPLACE TRIGGER task_answered AFTER UPDATE OF state ON task FOR EACH ROW
      WHEN (OLD.state IN ${WAITING} AND NEW.state NOT IN ${WAITING})
      EXECUTE FUNCTION task_asks_no_more()`);
    await runner.query(`
      DELETE FROM task_question USING task
      WHERE task.task_id = task_question.task_id AND task.state NOT IN ${WAITING}`);
  }
}

/** Creates the index for Tasks whose ids contain no time, so that a purge finds them without a full scan. */
export class IndexUntimedTasks1700000000343 implements MigrationInterface {
  readonly name = 'IndexUntimedTasks1700000000343';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS task_untimed');
    await runner.query(`
      CREATE INDEX CONCURRENTLY task_untimed ON task (tenant, agent, created_at) WHERE substr(task_id, 15, 1) <> '7'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX CONCURRENTLY task_untimed');
  }
}

const INDEXES = [
  { name: 'task_agent_order', columns: 'tenant, owner, agent, updated_at, task_id', before: 'task_agent_updated' },
  { name: 'task_owner_order', columns: 'tenant, owner, updated_at, task_id', before: 'task_owner_updated' },
];

/**
 * Reverses the order of the indexes for ListTasks to oldest first, because new rows are then added at the end, where
 * full pages stay full. With the newest first, every page was split in the middle and stayed half empty. Lists read the
 * indexes backwards. Created without blocking writers; an interrupted attempt is started over.
 */
export class OrderTasksByAge1700000000942 implements MigrationInterface {
  readonly name = 'OrderTasksByAge1700000000942';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    for (const { name, columns, before } of INDEXES) {
      await runner.query(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
      await runner.query(`CREATE INDEX CONCURRENTLY ${name} ON task (${columns})`);
      await runner.query(`DROP INDEX CONCURRENTLY IF EXISTS ${before}`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const { name, columns, before } of INDEXES) {
      const newestFirst = columns.replace('updated_at, task_id', 'updated_at DESC, task_id DESC');
      await runner.query(`DROP INDEX CONCURRENTLY IF EXISTS ${before}`);
      await runner.query(`CREATE INDEX CONCURRENTLY ${before} ON task (${newestFirst})`);
      await runner.query(`DROP INDEX CONCURRENTLY ${name}`);
    }
  }
}

/**
 * Adds the state to the index for lists of an agent's Tasks. A list of a rare state then reads entries of the index, not
 * rows, however many Tasks of other states the agent has. Created without blocking writers; an interrupted attempt is
 * started over.
 */
export class AddStateToAgentOrder1700000001590 implements MigrationInterface {
  readonly name = 'AddStateToAgentOrder1700000001590';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS task_agent_state');
    await runner.query(`
      CREATE INDEX CONCURRENTLY task_agent_state ON task (tenant, owner, agent, updated_at, task_id, state)`);
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS task_agent_order');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS task_agent_order');
    await runner.query(`
      CREATE INDEX CONCURRENTLY task_agent_order ON task (tenant, owner, agent, updated_at, task_id)`);
    await runner.query('DROP INDEX CONCURRENTLY task_agent_state');
  }
}
