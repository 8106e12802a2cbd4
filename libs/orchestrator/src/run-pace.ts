import type { RunWork } from '#libs/executor';

/** Milliseconds of work after which a run yields to the event loop. */
const LONGEST_STRETCH = 10;

/** Yields to the event loop between pieces of work that may take long together. */
export class EventLoopYield {
  private since = performance.now();

  /** @param evaluates true for a run with expressions: it also waits until its owed evaluation steps are available */
  constructor(
    private readonly work: Pick<RunWork, 'steps' | 'nextTurn'>,
    private readonly evaluates: boolean,
    private readonly signal: AbortSignal,
  ) {}

  /** True if the run should yield now. */
  get isDue(): boolean {
    return performance.now() - this.since >= LONGEST_STRETCH || (this.evaluates && this.work.steps.isOwing);
  }

  /** Yields to the event loop. @throws the signal's reason if it is aborted during the wait */
  async yieldTurn(): Promise<void> {
    await this.work.nextTurn(this.signal);
    if (this.evaluates) await this.work.steps.whenPaid(this.signal);
    this.since = performance.now();
  }
}

/** A step that only waits until the run may evaluate expressions. */
export class EvaluationTurn implements AsyncIterable<never> {
  constructor(
    private readonly steps: RunWork['steps'],
    private readonly signal: AbortSignal,
  ) {}

  [Symbol.asyncIterator](): AsyncIterator<never, undefined> {
    const { steps, signal } = this;
    return {
      next: async () => {
        await steps.whenPaid(signal);
        return { done: true, value: undefined };
      },
    };
  }
}
