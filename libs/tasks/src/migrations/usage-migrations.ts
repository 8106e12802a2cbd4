import type { MigrationInterface, QueryRunner } from 'typeorm';

const SUMS = `
        -- Calls whose tokens are known, and those whose cost is known.
        calls bigint NOT NULL,
        reported bigint NOT NULL,
        priced bigint NOT NULL,
        input_tokens bigint NOT NULL,
        output_tokens bigint NOT NULL,
        -- Parts of the input tokens and of the output tokens.
        cached_tokens bigint NOT NULL,
        reasoning_tokens bigint NOT NULL,
        -- US dollars.
        cost numeric NOT NULL`;

/**
 * Creates the sums of the calls of models, which journals update in the commits of the events that report the calls.
 * - `usage_day`: by day (UTC), caller, workflow and model. Each journal has rows of its own, so that no journal waits
 *   for another one's commit (see TaskUsage).
 * - `task_usage`: by Task, with all calls of the Tasks below it, and by the workflow whose node made the call. The rows
 *   are deleted with their Task.
 */
export class CreateUsage1700000001430 implements MigrationInterface {
  readonly name = 'CreateUsage1700000001430';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE usage_day (
        tenant text COLLATE "C" NOT NULL,
        owner text COLLATE "C" NOT NULL,
        day date NOT NULL,
        workflow text COLLATE "C" NOT NULL,
        model text COLLATE "C" NOT NULL,
        writer text COLLATE "C" NOT NULL,${SUMS},
        PRIMARY KEY (tenant, owner, day, workflow, model, writer)
      ) WITH (fillfactor = 50)`);
    await runner.query('CREATE INDEX usage_day_tenant ON usage_day (tenant, day)');
    await runner.query('CREATE INDEX usage_day_age ON usage_day (day)');
    await runner.query(`
      CREATE TABLE task_usage (
        task_id text COLLATE "C" NOT NULL,
        -- The workflow whose node made the calls.
        workflow text COLLATE "C" NOT NULL,
        model text COLLATE "C" NOT NULL,${SUMS},
        PRIMARY KEY (task_id, workflow, model)
      ) WITH (fillfactor = 50)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE usage_day, task_usage');
  }
}

/** Adds the input tokens that providers wrote to their caches to the sums of the calls of models. */
export class CountCacheWrites1700000001670 implements MigrationInterface {
  readonly name = 'CountCacheWrites1700000001670';

  async up(runner: QueryRunner): Promise<void> {
    for (const table of ['usage_day', 'task_usage'])
      await runner.query(`ALTER TABLE ${table} ADD COLUMN cache_write_tokens bigint NOT NULL DEFAULT 0`);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['usage_day', 'task_usage'])
      await runner.query(`ALTER TABLE ${table} DROP COLUMN cache_write_tokens`);
  }
}
