import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates the table of approved brainstorms. Everything else about a brainstorm is in its Task's log. */
export class CreateBrainstormApproval1700000000500 implements MigrationInterface {
  readonly name = 'CreateBrainstormApproval1700000000500';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE brainstorm_approval (
        task_id text COLLATE "C" PRIMARY KEY,
        approved_at timestamptz NOT NULL
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE brainstorm_approval');
  }
}

/** Migrations of this library, in order. */
export const BRAINSTORM_MIGRATIONS = [CreateBrainstormApproval1700000000500];
