import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * How large logs are, so that whoever reads one knows before; and which events are of Artifacts, so that whoever shows
 * none reads none. Null where it was written before: then the log itself tells.
 */
export class AddTaskSize1700000000130 implements MigrationInterface {
  readonly name = 'AddTaskSize1700000000130';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE task ADD COLUMN log_bytes integer, ADD COLUMN artifact_bytes integer');
    await runner.query('ALTER TABLE task_event ADD COLUMN artifact boolean');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE task_event DROP COLUMN artifact');
    await runner.query('ALTER TABLE task DROP COLUMN log_bytes, DROP COLUMN artifact_bytes');
  }
}
