import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { Database, inTransaction, KeyTurns } from '#libs/postgres';
import type { TaskScope } from '../store/task-store.js';

/** Effect of a budget that is used up. */
type OnExceeded = 'stop' | 'ask' | 'warn';

/** Limits of a run and of everything that it calls. At least one of `usd` and `tokens` is present. */
export interface BudgetLimits {
  /** Maximum cost in US dollars. */
  usd?: number;
  /** Maximum number of tokens, input and output together. */
  tokens?: number;
  /** Effect of a budget that is used up; default: `stop`. */
  onExceeded?: OnExceeded;
}

/** Unit of a limit. */
export type BudgetUnit = 'usd' | 'tokens';

/** Limit of a run that is used up. */
export interface ExceededBudget {
  /** Id of the run that has the budget. */
  runId: string;
  workflow: string;
  unit: BudgetUnit;
  /** Limit, and what is spent of it, as decimal numbers. */
  limit: string;
  spent: string;
  onExceeded: OnExceeded;
}

/** Describes a budget that is used up, as a sentence without a full stop. */
export function describeExceeded({ runId, workflow, unit, limit, spent }: ExceededBudget): string {
  const amount = unit === 'usd' ? `$${spent} of $${limit}` : `${spent} of ${limit} tokens`;
  return `the budget of the run ${runId} of the workflow "${workflow}" is used up: ${amount} are spent`;
}

/** Call of a model that counts towards budgets. */
export interface BudgetedCall {
  scope: TaskScope;
  /** Task that makes the call, and the token of its claim. A Task makes one call at a time. */
  taskId: string;
  token: string;
  /** Ids of the runs whose budgets limit the call, outermost first. */
  budgets: readonly string[];
  /** Estimated cost in US dollars, as a decimal number, and estimated number of tokens. */
  usd: string;
  tokens: number;
  /** False if the model has no price. */
  isPriced: boolean;
}

/**
 * Outcome of the request for a call.
 * - `admitted`: the call is charged with its estimate, and may be made. `warnings`: budgets that are used up, but only
 *   warn; each is in the list of one call alone.
 * - `full`: the rest of a budget is reserved for calls that are under way. Request the call again later.
 * - `exceeded`: a budget is used up.
 * - `unpriced`: a budget limits the cost, and the model has no price.
 */
export type BudgetAdmission =
  | { kind: 'admitted'; warnings: ExceededBudget[] }
  | { kind: 'full' }
  | { kind: 'exceeded'; budget: ExceededBudget }
  | { kind: 'unpriced'; workflow: string };

/** Limits of a run, and what is charged to them. */
export interface BudgetState {
  /** Limits as decimal numbers; absent: none. */
  usd?: string;
  tokens?: number;
  onExceeded: OnExceeded;
  spentUsd: string;
  spentTokens: number;
}

/** Number of settled charges of a budget from which they are merged into one. */
const MOST_CHARGES = 500;

/**
 * Budgets of runs, which all replicas share. The budget of a run limits the calls of models of all Tasks below the run.
 * - Each call is charged with an estimate before it is made. The commit of its answer replaces the estimate by the cost.
 * - A call is admitted while less than the limit is charged, so a budget is exceeded by the calls under way at most.
 * - A call without a recorded answer (the replica was killed, or the Task was canceled) keeps the charge of its
 *   estimate.
 * - Every request for a call holds the advisory locks of its budgets.
 */
@Injectable()
export class RunBudgets {
  private readonly turns = new KeyTurns();

  constructor(private readonly database: Database) {}

  /** Stores the budget of a run. Does nothing if the run has one already. The Task of the run must be durable. */
  async openBudget(
    { taskId, workflow, scope }: { taskId: string; workflow: string; scope: TaskScope },
    { usd, tokens, onExceeded = 'stop' }: BudgetLimits,
  ): Promise<void> {
    const values = [taskId, scope.tenant, scope.owner, workflow, usd ?? null, tokens ?? null, onExceeded];
    await this.database.pool.query(OPEN, values);
  }

  /** Requests a call of a model, and charges it to its budgets if it is admitted. */
  async requestCall(call: BudgetedCall): Promise<BudgetAdmission> {
    const [first = ''] = call.budgets;
    return this.turns.runInTurn(first, () => inTransaction(this.database, (client) => admitCall(client, call)));
  }

  /** Removes the charge of a call that the provider has refused before it worked. */
  async releaseCall({ taskId, token }: Pick<BudgetedCall, 'taskId' | 'token'>): Promise<void> {
    await this.database.pool.query(RELEASE, [taskId, token]);
  }

  /**
   * Returns a budget with `onExceeded: stop` that is used up; `undefined` if there is none.
   * @param budgets ids of runs, outermost first
   */
  async findExceeded(budgets: readonly string[], scope: TaskScope): Promise<ExceededBudget | undefined> {
    const rows = await readBudgets(this.database.pool, budgets, scope);
    return rows.filter(({ on_exceeded: on }) => on === 'stop').flatMap((row) => exceededBy(row) ?? [])[0];
  }

  /**
   * Raises a limit of a budget.
   * @param by id of the Message that raises it; a Message raises a limit once
   */
  async raiseLimit(
    runId: string,
    scope: TaskScope,
    raise: { unit: BudgetUnit; more: number; by: string },
  ): Promise<void> {
    const { unit, more, by } = raise;
    await this.database.pool.query(RAISE[unit], [runId, scope.tenant, scope.owner, more, by]);
  }

  /** Returns the state of the budget of a run; `undefined` if it has none. */
  async readBudget(runId: string, scope: TaskScope): Promise<BudgetState | undefined> {
    const [row] = await readBudgets(this.database.pool, [runId], scope);
    if (row === undefined) return undefined;
    return {
      ...(row.usd !== null && { usd: row.usd }),
      ...(row.tokens !== null && { tokens: Number(row.tokens) }),
      onExceeded: row.on_exceeded,
      spentUsd: row.spent_usd,
      spentTokens: Number(row.spent_tokens),
    };
  }
}

interface BudgetRow {
  task_id: string;
  workflow: string;
  usd: string | null;
  tokens: string | null;
  on_exceeded: OnExceeded;
  is_warned: boolean;
  /** Settled charges, and those of calls that have no execution any more. */
  spent_usd: string;
  spent_tokens: string;
  is_usd_spent: boolean;
  is_tokens_spent: boolean;
  /** True if the charges of calls under way take the rest of a limit. */
  is_full: boolean;
  settled: number;
}

async function admitCall(client: PoolClient, call: BudgetedCall): Promise<BudgetAdmission> {
  const { scope, taskId, token, budgets, usd, tokens } = call;
  for (const budget of [...budgets].sort()) await client.query(LOCK, [budget]);
  await client.query(KEEP_EARLIER, [taskId]);
  const rows = await readBudgets(client, budgets, scope);
  const unpriced = call.isPriced ? undefined : rows.find((row) => row.usd !== null);
  if (unpriced) return { kind: 'unpriced', workflow: unpriced.workflow };
  const found = rows.map((row) => ({ row, exceeded: exceededBy(row) }));
  const over = found.find(({ row, exceeded }) => exceeded && row.on_exceeded !== 'warn');
  if (over?.exceeded) return { kind: 'exceeded', budget: over.exceeded };
  if (rows.some((row) => row.is_full && row.on_exceeded !== 'warn')) return { kind: 'full' };
  for (const { task_id: budget, settled } of rows) if (settled > MOST_CHARGES) await client.query(MERGE, [budget]);
  const ids = rows.map(({ task_id: id }) => id);
  await client.query(CHARGE, [ids, taskId, token, usd, tokens]);
  const warnings = found.flatMap(({ row, exceeded }) => (exceeded && !row.is_warned ? [exceeded] : []));
  if (warnings.length > 0) await client.query(MARK_WARNED, [warnings.map(({ runId }) => runId)]);
  return { kind: 'admitted', warnings };
}

async function readBudgets(
  client: Pick<PoolClient, 'query'>,
  budgets: readonly string[],
  { tenant, owner }: TaskScope,
): Promise<BudgetRow[]> {
  const { rows } = await client.query<BudgetRow>(READ, [budgets, tenant, owner]);
  return rows.sort((one, other) => budgets.indexOf(one.task_id) - budgets.indexOf(other.task_id));
}

function exceededBy(row: BudgetRow): ExceededBudget | undefined {
  if (!row.is_usd_spent && !row.is_tokens_spent) return undefined;
  const unit = row.is_usd_spent ? 'usd' : 'tokens';
  return {
    runId: row.task_id,
    workflow: row.workflow,
    unit,
    limit: row[unit] ?? '',
    spent: row[`spent_${unit}`],
    onExceeded: row.on_exceeded,
  };
}

const OPEN = `
  INSERT INTO run_budget (task_id, tenant, owner, workflow, usd, tokens, on_exceeded)
  VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (task_id) DO NOTHING`;

const LOCK = `SELECT pg_advisory_xact_lock(hashtextextended('run-budget ' || $1, 0))`;

/**
 * Statement that keeps the charges of earlier calls of a Task for good: these calls have no recorded answer, as the Task
 * requests the next call only when all answers before it are durable.
 */
const KEEP_EARLIER = 'UPDATE budget_charge SET is_settled = true WHERE task_id = $1 AND NOT is_settled';

// A call has an execution as long as its Task has the claim under which the call was charged.
const READ = `
  SELECT budget.task_id, workflow, trim_scale(usd)::text AS usd, tokens::text, on_exceeded,
    warned_at IS NOT NULL AS is_warned,
    trim_scale(spent_usd)::text AS spent_usd, spent_tokens::text, settled,
    coalesce(spent_usd >= usd, false) AS is_usd_spent,
    coalesce(spent_tokens >= tokens, false) AS is_tokens_spent,
    coalesce(all_usd >= usd, false) OR coalesce(all_tokens >= tokens, false) AS is_full
  FROM run_budget AS budget CROSS JOIN LATERAL (
    SELECT coalesce(sum(charge.usd), 0) AS all_usd, coalesce(sum(charge.tokens), 0) AS all_tokens,
      coalesce(sum(charge.usd) FILTER (WHERE is_spent), 0) AS spent_usd,
      coalesce(sum(charge.tokens) FILTER (WHERE is_spent), 0) AS spent_tokens,
      count(*) FILTER (WHERE is_settled)::int AS settled
    FROM (
      SELECT held.usd, held.tokens, is_settled, is_settled OR NOT EXISTS (
        SELECT FROM task WHERE task.task_id = held.task_id AND task.claim_token = held.claim) AS is_spent
      FROM budget_charge AS held WHERE held.budget = budget.task_id
    ) AS charge
  ) AS charges
  WHERE budget.task_id = ANY($1::text[]) AND tenant = $2 AND owner = $3`;

const CHARGE = `
  INSERT INTO budget_charge (budget, task_id, claim, usd, tokens)
  SELECT budget, $2, $3, $4::numeric, $5::bigint FROM unnest($1::text[]) AS budget`;

const RELEASE = 'DELETE FROM budget_charge WHERE task_id = $1 AND claim = $2 AND NOT is_settled';

const MERGE = `
  WITH gone AS (DELETE FROM budget_charge WHERE budget = $1 AND is_settled RETURNING usd, tokens)
  INSERT INTO budget_charge (budget, task_id, claim, usd, tokens, is_settled)
  SELECT $1, $1, '', sum(usd), sum(tokens), true FROM gone`;

const MARK_WARNED = 'UPDATE run_budget SET warned_at = now() WHERE task_id = ANY($1::text[])';

/** Returns the statement that raises a limit. A budget without this limit does not get one. */
function raiseSql(unit: BudgetUnit): string {
  return `UPDATE run_budget SET ${unit} = ${unit} + $4::numeric, raised_by = raised_by || $5::text
    WHERE task_id = $1 AND tenant = $2 AND owner = $3 AND NOT ($5::text = ANY(raised_by))
      AND cardinality(raised_by) < 1000`;
}

const RAISE: Record<BudgetUnit, string> = { usd: raiseSql('usd'), tokens: raiseSql('tokens') };
