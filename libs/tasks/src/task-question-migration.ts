import type { MigrationInterface, QueryRunner } from 'typeorm';

const WAITING = `('TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED')`;
const ENDED = `('TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED')`;

/**
 * Questions of waiting Tasks (see TaskQuestions). The rows of a Task are deleted in the statement that ends its wait,
 * even if an earlier version writes it.
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
 * Lets journals of this version keep the questions of a Task that resumes, so that open ones need not be written again.
 * They settle them with the event by which the Task waits again, is parked or ends. The trigger serves all other
 * writers: an earlier version, which may resume or end a Task with kept questions, and manual changes.
 */
export class KeepOpenQuestions1700000000430 implements MigrationInterface {
  readonly name = 'KeepOpenQuestions1700000000430';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE OR REPLACE TRIGGER task_answered AFTER UPDATE OF state ON task FOR EACH ROW
      WHEN (NEW.state NOT IN ${WAITING} AND (OLD.state IN ${WAITING} OR NEW.state IN ${ENDED})
            AND current_setting('parley.questions', true) IS DISTINCT FROM 'kept')
      EXECUTE FUNCTION task_asks_no_more()`);
  }

  /** Deletes kept questions, since an earlier version lists all rows. */
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
