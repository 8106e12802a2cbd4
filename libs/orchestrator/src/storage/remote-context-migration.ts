import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Context ids of remote agents, by a digest of the caller and the agent (see RemoteContexts). */
export class CreateRemoteContext1700000000381 implements MigrationInterface {
  readonly name = 'CreateRemoteContext1700000000381';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE remote_context (
        key text COLLATE "C" PRIMARY KEY,
        context_id text NOT NULL,
        task_id text COLLATE "C" NOT NULL
      )`);
    await runner.query('CREATE INDEX remote_context_task ON remote_context (task_id)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE remote_context');
  }
}
