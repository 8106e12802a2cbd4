import type { RE2JS } from 're2js';

const MOST_VISITS = 100_000;
/** Default number of steps. A step takes 10 to 200 ns, depending on its kind and the machine: at most 0.2 s in all. */
export const MOST_STEPS = 1_000_000;
const CHARACTERS_PER_STEP = 8;
const LONGEST_TEXT = 1_048_576;

/** Error of an evaluation that exceeds its budget. */
export class BudgetExceeded extends Error {
  override readonly name = 'BudgetExceeded';
}

/**
 * Limits the cost of evaluations.
 * - It counts steps, never time: the same expression over the same values always ends the same way.
 * - Several expressions may share one budget.
 * - It refuses work before the work is done. After the first refusal everything that shares the budget fails.
 */
export class EvaluationBudget {
  private steps: number;
  private visits = MOST_VISITS;
  private refusal: BudgetExceeded | undefined;

  /** @param most number of steps available */
  constructor(private readonly most = MOST_STEPS) {
    this.steps = most;
  }

  /** Number of steps used; refused work is not counted. */
  get spent(): number {
    return this.most - this.steps;
  }

  get exceeded(): BudgetExceeded | undefined {
    return this.refusal;
  }

  /**
   * Charges an iteration over the elements of a list.
   * @param weight steps for each element
   * @param innermost true if no element iterates over a list itself; only such visits count toward the visit limit
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

  /** Charges a read of this many characters or bytes. */
  chargeRead(characters: number): void {
    if (characters > CHARACTERS_PER_STEP) this.chargeSteps(characters / CHARACTERS_PER_STEP);
  }

  /** Charges the creation of a text of this many characters, or of as many bytes. */
  chargeText(characters: number): void {
    if (characters > LONGEST_TEXT) this.refuseEvaluation(`it makes a text of more than ${LONGEST_TEXT} characters`);
    this.chargeRead(characters);
  }

  /** @throws BudgetExceeded */
  refuseEvaluation(message: string): never {
    this.refusal ??= new BudgetExceeded(message);
    throw this.refusal;
  }
}

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

/** Usage by kind that the nodes of one workflow, or the inputs of one Message, share. */
export class SharedUse {
  private readonly used = new Map<string, number>();

  /** @returns the total of this kind */
  add(what: string, amount: number): number {
    const total = (this.used.get(what) ?? 0) + amount;
    this.used.set(what, total);
    return total;
  }
}
