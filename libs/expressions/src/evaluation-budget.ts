const MOST_VISITS = 100_000;
/** A step takes 10 to 200 ns, by what it is and on what machine: all of them at most a fifth of a second. */
export const MOST_STEPS = 1_000_000;
const CHARACTERS_PER_STEP = 8;
const LONGEST_TEXT = 1_048_576;

/** An evaluation came to more than its budget. */
export class BudgetExceeded extends Error {
  override readonly name = 'BudgetExceeded';
}

/**
 * What evaluating may come to, so that nothing takes long: counted in steps, never by a clock, so that the same
 * expression over the same values always ends the same way. Several expressions may share one. What goes beyond is told
 * before it is done; from then on everything that shares the budget fails.
 */
export class EvaluationBudget {
  private steps: number;
  private visits = MOST_VISITS;
  private refusal: BudgetExceeded | undefined;

  /** @param most steps that it has */
  constructor(private readonly most = MOST_STEPS) {
    this.steps = most;
  }

  /** Number of steps that were used; what was refused is not among them. */
  get spent(): number {
    return this.most - this.steps;
  }

  get exceeded(): BudgetExceeded | undefined {
    return this.refusal;
  }

  /**
   * The elements of a list are about to be gone through.
   * @param weight steps that each takes
   * @param innermost whether nothing in it goes through a list again: only such visits are counted against their limit
   */
  visit(elements: number, weight: number, innermost: boolean): void {
    if (innermost) this.visits -= elements;
    if (this.visits < 0) this.refuse(`it goes through more than ${MOST_VISITS} elements`);
    this.spend(elements * weight);
  }

  spend(steps: number): void {
    if (steps > this.steps || this.refusal !== undefined) this.refuse('it takes too many steps');
    this.steps -= steps;
  }

  /** So many characters or bytes are about to be looked at. */
  read(characters: number): void {
    if (characters > CHARACTERS_PER_STEP) this.spend(characters / CHARACTERS_PER_STEP);
  }

  /** A text of so many characters, or as many bytes, is about to be made. */
  build(characters: number): void {
    if (characters > LONGEST_TEXT) this.refuse(`it makes a text of more than ${LONGEST_TEXT} characters`);
    this.read(characters);
  }

  /** @throws BudgetExceeded */
  refuse(message: string): never {
    this.refusal ??= new BudgetExceeded(message);
    throw this.refusal;
  }
}
