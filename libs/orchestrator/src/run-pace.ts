import { setImmediate as turn } from 'node:timers/promises';
import type { RunWork } from '#libs/executor';

/** How long work may go on before others have their turn, in milliseconds. */
const LONGEST_STRETCH = 20;

/** Lets others have their turn between pieces of work that may take long together. */
export class RunPace {
  private since = performance.now();

  /** @param steps evaluation steps of a run that evaluates anything: those that are owed are waited for */
  constructor(
    private readonly steps: RunWork['steps'] | undefined,
    private readonly signal: AbortSignal,
  ) {}

  /** Whether others should have their turn now. */
  get isDue(): boolean {
    return performance.now() - this.since >= LONGEST_STRETCH || this.steps?.isOwing === true;
  }

  /** @throws the signal's reason, where it is aborted while steps are waited for */
  async rest(): Promise<void> {
    await turn();
    await this.steps?.paid(this.signal);
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
