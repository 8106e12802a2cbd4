import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Sizes of logs, so that readers know them in advance. Null if unknown: then the log itself is measured. If an earlier
 * version continues a Task, it counts nothing, and that Task's size becomes unknown.
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
 * Marks events of Artifacts, so that readers without Artifacts can skip them; null for earlier rows. Separate from the
 * sizes: a purge locks a log and then its Task, so locking the tables in the other order could deadlock.
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
