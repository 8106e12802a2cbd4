import type { RE2JS } from 're2js';

const MOST_VISITS = 100_000;
/**
 * Default number of steps of a budget: at most 0.2 s in all. A step takes 10 to 200 ns, depending on its kind and the
 * machine.
 */
export const MOST_STEPS = 1_000_000;
const CHARACTERS_PER_STEP = 8;
const LONGEST_TEXT = 1_048_576;

/** Error of an evaluation that exceeds a limit: its budget of steps, the visited elements, or the size of a text. */
export class BudgetExceeded extends Error {
  override readonly name = 'BudgetExceeded';
}

/**
 * Limits the cost of evaluations, in steps.
 *
 * - A budget counts steps and not time, so the same expression over the same values always gives the same result.
 * - Several expressions may share one budget.
 * - Work is counted before it is done. Once the budget has refused any work, every expression that shares it fails.
 */
export class EvaluationBudget {
  private steps: number;
  private visits = MOST_VISITS;
  private refusal: BudgetExceeded | undefined;

  /** @param most number of steps available */
  constructor(private readonly most = MOST_STEPS) {
    this.steps = most;
  }

  /** Number of steps counted so far, without the work that was refused. */
  get spent(): number {
    return this.most - this.steps;
  }

  get exceeded(): BudgetExceeded | undefined {
    return this.refusal;
  }

  /**
   * Counts the steps of a macro that iterates over the elements of a list or map.
   * @param elements number of elements
   * @param weight steps for each element
   * @param innermost true if the body of the macro contains no other macro. Only the elements of such macros count
   *   toward the limit of 100,000 visited elements.
   */
  chargeVisit(elements: number, weight: number, innermost: boolean): void {
    if (innermost) this.visits -= elements;
    if (this.visits < 0) this.refuseEvaluation(`it goes through more than ${MOST_VISITS} elements`);
    this.chargeSteps(elements * weight);
  }

  chargeSteps(steps: number): void {
    if (steps > this.steps || this.refusal !== undefined) this.refuseEvaluation('it takes too many steps');
    this.steps -= steps;
  }

  /** Counts the steps of reading `characters` characters or bytes: one step for each eight. */
  chargeRead(characters: number): void {
    if (characters > CHARACTERS_PER_STEP) this.chargeSteps(characters / CHARACTERS_PER_STEP);
  }

  /**
   * Counts the steps of creating a string or byte string of this length. More than 1,048,576 characters or bytes are
   * refused.
   */
  chargeText(characters: number): void {
    if (characters > LONGEST_TEXT) this.refuseEvaluation(`it makes a text of more than ${LONGEST_TEXT} characters`);
    this.chargeRead(characters);
  }

  /** Refuses this work and all further work that is counted in this budget. @throws BudgetExceeded */
  refuseEvaluation(message: string): never {
    this.refusal ??= new BudgetExceeded(message);
    throw this.refusal;
  }
}

/** State of one evaluation, for the CEL functions that it calls. */
export interface Evaluation {
  budget: EvaluationBudget;
  /** Compiled regular expressions by source. */
  patterns: Map<string, RE2JS>;
  /** Date formats by time zone. */
  clocks: Map<string, Intl.DateTimeFormat>;
  /**
   * First error thrown by a function that the caller passed as the value of a variable or a member; absent if none
   * threw.
   */
  fault?: { error: unknown };
}

let current: Evaluation | undefined;

/**
 * Returns the evaluation in progress. Evaluations are synchronous, so there is at most one.
 * @throws Error outside of an evaluation
 */
export function currentEvaluation(): Evaluation {
  if (current === undefined) throw new Error('nothing is evaluated');
  return current;
}

/**
 * Runs `work` as the evaluation `it`: until `work` returns, `currentEvaluation` returns `it`. Evaluations may nest,
 * since the function that makes the value of a member may evaluate another expression.
 * Errors of `work` have no stack: recording it would take most of the time of an expression that ignores an error for
 * each element.
 */
export function runEvaluation<T>(it: Evaluation, work: () => T): T {
  return runWithin(it, 0, work);
}

/**
 * Calls the function that makes the value of a variable or a member. Its error is recorded as the `fault` of the
 * evaluation, so that it is not reported as an error of the expression.
 */
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

/** Sums of amounts that have a common limit, such as the subschemas of one workflow or the steps for one Message. */
export class SharedUse {
  private readonly used = new Map<string, number>();

  /** Adds an amount of the kind `what`, a key that callers choose. @returns the total of this kind */
  add(what: string, amount: number): number {
    const total = (this.used.get(what) ?? 0) + amount;
    this.used.set(what, total);
    return total;
  }
}
