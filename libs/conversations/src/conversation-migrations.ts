import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What callers want of conversations that go on. Everything else of a conversation is in its Task's log. */
export class CreateConversationCommand1700000000400 implements MigrationInterface {
  readonly name = 'CreateConversationCommand1700000000400';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE conversation_command (
        conversation_id text COLLATE "C" NOT NULL,
        number integer NOT NULL,
        kind text COLLATE "C" NOT NULL,
        text text,
        created_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (conversation_id, number)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE conversation_command');
  }
}

/** What the conversations of one root have used together. */
export class CreateConversationBudget1700000000401 implements MigrationInterface {
  readonly name = 'CreateConversationBudget1700000000401';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE conversation_budget (
        root text COLLATE "C" PRIMARY KEY,
        turns integer NOT NULL,
        calls integer NOT NULL,
        started_at timestamptz NOT NULL DEFAULT now()
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE conversation_budget');
  }
}

export const CONVERSATION_MIGRATIONS = [CreateConversationCommand1700000000400, CreateConversationBudget1700000000401];
