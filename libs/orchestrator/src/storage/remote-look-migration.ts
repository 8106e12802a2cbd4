import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Questions of remote agents whose Tasks have moved on without the run, and the time of the next poll of each agent.
 */
export class CreateRemoteLook1700000000450 implements MigrationInterface {
  readonly name = 'CreateRemoteLook1700000000450';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE remote_moved_on (
        run_id text COLLATE "C" NOT NULL,
        node_id text COLLATE "C" NOT NULL,
        asked text COLLATE "C" NOT NULL,
        PRIMARY KEY (run_id, node_id, asked)
      )`);
    await runner.query(`
      CREATE TABLE remote_look_turn (
        agent text COLLATE "C" PRIMARY KEY,
        next_at timestamptz NOT NULL
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE remote_look_turn');
    await runner.query('DROP TABLE remote_moved_on');
  }
}
