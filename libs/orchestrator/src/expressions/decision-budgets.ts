import { EvaluationBudget, MOST_STEPS } from '#libs/expressions';

/** Steps that each expression of a decision has, whatever others of it have used: enough to tell one failure from another. */
const LEAST_STEPS = 20_000;

/** Counts evaluation steps that were used, and the milliseconds that it took. */
export interface StepCounter {
  use(steps: number, milliseconds: number): void;
}

/**
 * Gives the expressions of one decision about a run their steps. All of them are evaluated at once, so together they have
 * about as many as one alone. The same decision has the same steps each time.
 */
export class DecisionBudgets {
  private left = MOST_STEPS;

  constructor(private readonly counter?: StepCounter) {}

  /** Begins the next decision. */
  begin(): void {
    this.left = MOST_STEPS;
  }

  /** Returns the budget of an expression, or of several that share it. */
  next(): EvaluationBudget {
    return new EvaluationBudget(Math.max(this.left, LEAST_STEPS));
  }

  /** Evaluates within a budget, and counts what that uses. Throws what evaluating throws. */
  within<T>(budget: EvaluationBudget, evaluate: () => T): T {
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
