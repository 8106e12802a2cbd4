import type { RE2JS } from 're2js';
import type { EvaluationBudget } from './evaluation-budget.js';

/** State of one evaluation that the functions of an expression use. */
export interface Evaluation {
  budget: EvaluationBudget;
  /** Compiled regular expressions by source. */
  patterns: Map<string, RE2JS>;
  /** Date formats by time zone. */
  clocks: Map<string, Intl.DateTimeFormat>;
  /** Error thrown by the maker of a variable or a member. */
  fault?: { error: unknown };
}

let current: Evaluation | undefined;

/** Returns the current evaluation. Evaluation is synchronous, so there is at most one at a time. */
export function currentEvaluation(): Evaluation {
  if (current === undefined) throw new Error('nothing is evaluated');
  return current;
}

/**
 * Runs work as an evaluation. Evaluations may nest: the maker of a member may evaluate an expression.
 * Errors of expressions have no stack. Capturing it would dominate where an expression swallows an error per element.
 */
export function runEvaluation<T>(it: Evaluation, work: () => T): T {
  return runWithin(it, 0, work);
}

/** Calls the maker of a variable or a member. An error that it throws is not attributed to the expression. */
export function callMaker<T>(make: () => T): T {
  const it = currentEvaluation();
  try {
    return runWithin(it, STACK, make);
  } catch (error) {
    it.fault ??= { error };
    throw error;
  }
}

const STACK = 10;

function runWithin<T>(it: Evaluation, stack: number, work: () => T): T {
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
