import { setImmediate as turn } from 'node:timers/promises';

/** How long work may go on before others have their turn, in milliseconds. */
const LONGEST_STRETCH = 20;

/** Lets others have their turn between pieces of work that may take long together. */
export class RunPace {
  private since = performance.now();

  /** Whether others should have their turn now. */
  get isDue(): boolean {
    return performance.now() - this.since >= LONGEST_STRETCH;
  }

  async rest(): Promise<void> {
    await turn();
    this.since = performance.now();
  }
}
