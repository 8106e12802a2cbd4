import type { MigrationInterface, QueryRunner } from 'typeorm';

const WAITING = `('TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED')`;

/**
 * What waiting Tasks ask (see TaskQuestions). The rows of a Task go when it does not wait any more, in the statement that
 * moves it, also where a version of before writes that.
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
