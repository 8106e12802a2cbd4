import type { CallChains, ChainLink, RequestContext } from '#libs/agents';
import { retryWhileUnreachable } from '#libs/postgres';
import { invalidParams, type JsonObject } from '#libs/protocol';
import { describeExceeded, type ExceededBudget } from '#libs/tasks';
import { type BudgetConfig, readRequestedBudget } from '#libs/workflow-definition';
import { BUDGET_KEY } from '../state/run-metadata.js';
import type { ChildEnding } from './child-ending.js';
import type { RunServices } from './run-services.js';

/** Run that may have a budget, and the call chain that led to it. */
interface BudgetedRun {
  context: RequestContext;
  links: readonly ChainLink[];
  /** Budget of the run itself; absent: it has none. */
  budget: BudgetConfig | undefined;
}

/** Stores the budget of a run, which needs no event. Repeated executions of the run store it once. */
export async function openBudget(
  context: RequestContext,
  { workflow, budget }: { workflow: string; budget: BudgetConfig },
  { budgets }: Pick<RunServices, 'budgets'>,
): Promise<readonly never[]> {
  const { taskId, call, signal } = context;
  await context.flush();
  const run = { taskId, workflow, scope: call.scope };
  await retryWhileUnreachable(() => budgets.openBudget(run, budget), signal);
  return [];
}

/**
 * Returns the ids of the runs whose budgets limit the calls of a run, outermost first; `undefined` if there are none.
 */
export function findBudgets(
  { context, links, budget: own }: BudgetedRun,
  chains: Pick<CallChains, 'budgetsOf'>,
): string[] | undefined {
  const above = links.some(({ budget }) => budget !== undefined) ? chains.budgetsOf(links) : [];
  const all = own === undefined ? above : [...above, context.taskId];
  return all.length > 0 ? all : undefined;
}

/**
 * Returns the budget that a request sets (see `hasRequestedBudget`).
 * @throws A2AError INVALID_PARAMS with a violation for each wrong member
 */
export function requestedBudget(metadata: JsonObject): BudgetConfig {
  const budget = readRequestedBudget(metadata[BUDGET_KEY] ?? {}, `metadata.${BUDGET_KEY}`);
  if (!Array.isArray(budget)) return budget;
  throw invalidParams(...budget.map(({ path: field, detail: description }) => ({ field, description })));
}

/** Returns the ending of a call that is not made because a budget is used up. */
export function createBudgetEnding(budget: ExceededBudget): ChildEnding {
  return { kind: 'failed', error: describeExceeded(budget), failure: 'budget-exceeded' };
}
