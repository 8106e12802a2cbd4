import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Creates the tables of the budgets of runs (see RunBudgets).
 * - `run_budget`: the limits of each run that has a budget.
 * - `budget_charge`: a row for each call of a model that counts towards a budget. Before the call the row has an
 *   estimate. The commit of the answer replaces the estimate by what the call has cost.
 */
export class CreateRunBudget1700000001680 implements MigrationInterface {
  readonly name = 'CreateRunBudget1700000001680';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE run_budget (
        task_id text COLLATE "C" PRIMARY KEY REFERENCES task ON DELETE CASCADE,
        tenant text COLLATE "C" NOT NULL,
        owner text COLLATE "C" NOT NULL,
        workflow text COLLATE "C" NOT NULL,
        -- Limits; null: none.
        usd numeric,
        tokens bigint,
        on_exceeded text COLLATE "C" NOT NULL,
        -- Ids of the Messages that have raised the limits.
        raised_by text[] NOT NULL DEFAULT '{}',
        warned_at timestamptz
      )`);
    await runner.query(`
      CREATE TABLE budget_charge (
        charge_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        budget text COLLATE "C" NOT NULL REFERENCES run_budget ON DELETE CASCADE,
        -- Task that calls the model, and the token of its claim.
        task_id text COLLATE "C" NOT NULL,
        claim text COLLATE "C" NOT NULL,
        usd numeric NOT NULL,
        tokens bigint NOT NULL,
        is_settled boolean NOT NULL DEFAULT false
      )`);
    await runner.query('CREATE INDEX budget_charge_budget ON budget_charge (budget)');
    await runner.query('CREATE INDEX budget_charge_open ON budget_charge (task_id) WHERE NOT is_settled');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE budget_charge, run_budget');
  }
}
