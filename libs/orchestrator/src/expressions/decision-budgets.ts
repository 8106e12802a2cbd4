import { EvaluationBudget, MOST_STEPS } from '#libs/expressions';

/** Minimum number of steps for each expression of a decision: enough to tell one failure from another. */
const LEAST_STEPS = 20_000;

/** Counter of evaluation steps, and of the milliseconds that they took. */
export interface StepCounter {
  use(steps: number, milliseconds: number): void;
}

/**
 * Distributes steps among the expressions of one decision about a run. All are evaluated at once, so that together they
 * have about as many steps as one alone. The same decision has the same steps each time.
 */
export class DecisionBudgets {
  private left = MOST_STEPS;

  constructor(private readonly counter?: StepCounter) {}

  /** Starts the next decision. */
  beginDecision(): void {
    this.left = MOST_STEPS;
  }

  /** Returns the budget of an expression, or of several that share it. */
  createBudget(): EvaluationBudget {
    return new EvaluationBudget(Math.max(this.left, LEAST_STEPS));
  }

  /** Evaluates within a budget, and counts the steps used. Errors of the evaluation are passed on. */
  evaluateWithin<T>(budget: EvaluationBudget, evaluate: () => T): T {
    const [before, began] = [budget.spent, performance.now()];
    try {
      return evaluate();
    } finally {
      const used = budget.spent - before;
      this.left -= used;
      this.counter?.use(used, performance.now() - began);
    }
  }
}
