import type { RunWork } from '#libs/executor';

/** How long a run works before others have their turn, in milliseconds. */
const LONGEST_STRETCH = 10;

/** Lets others have their turn between pieces of work that may take long together. */
export class RunPace {
  private since = performance.now();

  /** @param evaluates true for a run that evaluates anything: steps that it owes are waited for */
  constructor(
    private readonly work: Pick<RunWork, 'steps' | 'nextTurn'>,
    private readonly evaluates: boolean,
    private readonly signal: AbortSignal,
  ) {}

  /** Whether others should have their turn now. */
  get isDue(): boolean {
    return performance.now() - this.since >= LONGEST_STRETCH || (this.evaluates && this.work.steps.isOwing);
  }

  /** @throws the signal's reason, where it is aborted while steps are waited for */
  async rest(): Promise<void> {
    await this.work.nextTurn(this.signal);
    if (this.evaluates) await this.work.steps.paid(this.signal);
    this.since = performance.now();
  }
}

/** A step of a run that does nothing but wait until it is the run's turn to evaluate. */
export class EvaluationTurn implements AsyncIterable<never> {
  constructor(
    private readonly steps: RunWork['steps'],
    private readonly signal: AbortSignal,
  ) {}

  [Symbol.asyncIterator](): AsyncIterator<never, undefined> {
    const { steps, signal } = this;
    return {
      next: async () => {
        await steps.paid(signal);
        return { done: true, value: undefined };
      },
    };
  }
}
