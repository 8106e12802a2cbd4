import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Creates the table of commands to conversations. */
class CreateConversationCommand1700000000400 implements MigrationInterface {
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

/** Creates the table with the numbers of turns and calls below each root Task (ConversationBudgets). */
class CreateConversationBudget1700000000401 implements MigrationInterface {
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

/** Migrations of this library, in order. */
export const CONVERSATION_MIGRATIONS = [CreateConversationCommand1700000000400, CreateConversationBudget1700000000401];
