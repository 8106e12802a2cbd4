import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * How large logs are, so that whoever reads one knows before. Null where nobody has counted: then the log itself tells.
 * An earlier version that goes on with a Task beside this one counts nothing: from then on that Task's size is unknown.
 */
export class AddTaskSize1700000000130 implements MigrationInterface {
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
    // No event has no bytes: whoever counts makes it more.
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
 * Which events are of Artifacts, so that whoever shows none reads none; null where it was written before. Apart from the
 * sizes: a purge locks a log and then its Task, and whoever locks the tables the other way round waits for it in a circle.
 */
export class AddArtifactEvents1700000000133 implements MigrationInterface {
  readonly name = 'AddArtifactEvents1700000000133';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE task_event ADD COLUMN IF NOT EXISTS artifact boolean');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE task_event DROP COLUMN artifact');
  }
}
