import type { RE2JS } from 're2js';
import type { EvaluationBudget } from './evaluation-budget.js';

/** What the functions of an expression need to know of the evaluation that calls them. */
export interface Evaluation {
  budget: EvaluationBudget;
  /** Regular expressions, compiled. */
  patterns: Map<string, RE2JS>;
  /** By time zone. */
  clocks: Map<string, Intl.DateTimeFormat>;
  /** What a member's maker threw: no fault of the expression. */
  fault?: { error: unknown };
}

let current: Evaluation | undefined;

/** The evaluation that is under way. Evaluating is synchronous, so there is but one at a time. */
export function evaluation(): Evaluation {
  if (current === undefined) throw new Error('nothing is evaluated');
  return current;
}

/** Evaluations may be nested: what makes a member may evaluate an expression for it. */
export function during<T>(it: Evaluation, work: () => T): T {
  const outer = current;
  current = it;
  try {
    return work();
  } finally {
    current = outer;
  }
}
