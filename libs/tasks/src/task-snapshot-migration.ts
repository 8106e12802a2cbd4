import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Tasks that have settled after a long log, folded up to an event of it; they go with their Tasks. */
export class CreateTaskSnapshot1700000000132 implements MigrationInterface {
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
