import { isJsonObject, type JsonValue } from '#libs/protocol';
import { BUDGET } from './definition-schema.js';
import { budgetProblems } from './graph-problems.js';
import { type ShapeFault, shapeFaults, storedObject, unknownMembersOf } from './shape.js';
import type { BudgetConfig } from './workflow.js';

/**
 * Reads the budget that the request for a run sets.
 * @param path path of the budget in the request, for faults
 * @returns the budget, or the faults of a malformed one
 */
export function readRequestedBudget(sent: JsonValue, path: string): BudgetConfig | ShapeFault[] {
  if (!isJsonObject(sent)) return [{ path, detail: 'must be an object' }];
  const unknown = unknownMembersOf(BUDGET, sent, `${path}.`).map((it) => ({
    path: it.path,
    detail: 'is no member of a budget',
  }));
  const faults = [...unknown, ...shapeFaults(BUDGET, sent, path)];
  if (faults.length > 0) return faults;
  const budget = storedObject(BUDGET, sent);
  const problems = budgetProblems(budget).map((it) => ({ path: it.path.replace('budget', path), detail: it.detail }));
  return problems.length > 0 ? problems : budget;
}

/**
 * Returns the budget of a run: the budget of its workflow, which a request can only lower. If the workflow has a budget,
 * its `onExceeded` holds.
 */
export function lowerBudget(own: BudgetConfig, requested: BudgetConfig): BudgetConfig {
  const lower = (unit: 'usd' | 'tokens'): number => Math.min(own[unit] ?? Infinity, requested[unit] ?? Infinity);
  const [usd, tokens] = [lower('usd'), lower('tokens')];
  return {
    ...(usd !== Infinity && { usd }),
    ...(tokens !== Infinity && { tokens }),
    ...(own.onExceeded !== undefined && { onExceeded: own.onExceeded }),
  };
}
