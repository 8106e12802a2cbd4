/**
 * Batches requests that arrive together, and runs them step by step together instead of each up to its commit. The code
 * of a Message, with that of V8 and Node, takes 550 KiB, more than the cache of a core; run one after another, each
 * Message would load all of it again (ADR 40).
 */
export class RequestBatcher {
  private waiting: (() => void)[] = [];

  /** @param afterReading calls a function once the event loop has read all pending input */
  constructor(private readonly afterReading: (act: () => void) => unknown = setImmediate) {}

  /**
   * Schedules a function for when all pending input of this process has been read, in order of the calls. It runs in
   * the async context of the first.
   */
  schedule(act: () => void): void {
    if (this.waiting.length === 0) this.afterReading(() => this.runBatch());
    this.waiting.push(act);
  }

  /** Runs the batch. If a function throws, the others are scheduled again. */
  private runBatch(): void {
    const { waiting } = this;
    this.waiting = [];
    let done = 0;
    try {
      for (const act of waiting) {
        done += 1;
        act();
      }
    } finally {
      for (const act of waiting.slice(done)) this.schedule(act);
    }
  }
}
