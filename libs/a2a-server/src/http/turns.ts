/**
 * Requests that come in together go on together, step by step, instead of one after the other to where each waits for its
 * commit. The code that a Message runs through, with that of V8 and Node below it, takes 550 KiB, which is more than the
 * cache next to a core has; so one Message after the other fetches all of it anew, and together they fetch it once (ADR 40).
 */
export class Turns {
  private waiting: (() => void)[] = [];

  /** @param afterReading calls what it is given once, when the event loop has read what there is to read */
  constructor(private readonly afterReading: (act: () => void) => unknown = setImmediate) {}

  /**
   * Calls it once all that has arrived at this process by then is read, in the order in which it was asked for. It runs
   * in the async context of the first.
   */
  take(act: () => void): void {
    if (this.waiting.length === 0) this.afterReading(() => this.goOn());
    this.waiting.push(act);
  }

  /** One that throws, which ends the process where nobody listens, does not keep the others waiting. */
  private goOn(): void {
    const { waiting } = this;
    this.waiting = [];
    let done = 0;
    try {
      for (const act of waiting) {
        done += 1;
        act();
      }
    } finally {
      for (const act of waiting.slice(done)) this.take(act);
    }
  }
}
