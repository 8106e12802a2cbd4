import type { RE2JS } from 're2js';
import type { EvaluationBudget } from './evaluation-budget.js';

/** What the functions of an expression need to know of the evaluation that calls them. */
export interface Evaluation {
  budget: EvaluationBudget;
  /** Regular expressions, compiled. */
  patterns: Map<string, RE2JS>;
  /** By time zone. */
  clocks: Map<string, Intl.DateTimeFormat>;
  /** What a maker of a variable or a member threw. */
  fault?: { error: unknown };
}

let current: Evaluation | undefined;

/** The evaluation that is under way. Evaluating is synchronous, so there is but one at a time. */
export function evaluation(): Evaluation {
  if (current === undefined) throw new Error('nothing is evaluated');
  return current;
}

/**
 * Evaluations may be nested: what makes a member may evaluate an expression for it. Errors of an expression have no
 * stack: it would take most of the time where an expression swallows one for each element of a list.
 */
export function during<T>(it: Evaluation, work: () => T): T {
  return within(it, 0, work);
}

/** Calls what makes a variable or a member. What that throws is no fault of the expression. */
export function made<T>(make: () => T): T {
  const it = evaluation();
  try {
    return within(it, STACK, make);
  } catch (error) {
    it.fault ??= { error };
    throw error;
  }
}

const STACK = 10;

function within<T>(it: Evaluation, stack: number, work: () => T): T {
  const [outer, limit] = [current, Error.stackTraceLimit];
  current = it;
  Error.stackTraceLimit = stack;
  try {
    return work();
  } finally {
    current = outer;
    Error.stackTraceLimit = limit;
  }
}
