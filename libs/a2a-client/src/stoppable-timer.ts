/** The longest time that a timer of this runtime can hold, in milliseconds. */
export const LONGEST_TIMER = 2 ** 31 - 1;

/** A timer that can be stopped, and goes on with the time that it has left. It runs from its beginning. */
export class StoppableTimer {
  private timer: NodeJS.Timeout | undefined;
  private since = 0;
  private left: number;

  /** @param milliseconds from its start to its end; infinite for one that never ends */
  constructor(
    private readonly milliseconds: number,
    private readonly expire: () => void,
  ) {
    this.left = milliseconds;
    this.start();
  }

  /** Lets a stopped timer go on. */
  start(): void {
    if (this.timer !== undefined || !Number.isFinite(this.left)) return;
    this.since = performance.now();
    this.timer = setTimeout(this.onTime, Math.min(this.left, LONGEST_TIMER));
  }

  stop(): void {
    if (this.timer === undefined) return;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.left = Math.max(this.left - (performance.now() - this.since), 0);
  }

  /** Stops the timer for good. */
  end(): void {
    this.stop();
    this.left = Infinity;
  }

  /** Gives the timer all of its time again. */
  refresh(): void {
    if (this.timer !== undefined && this.left === this.milliseconds) {
      this.since = performance.now();
      this.timer.refresh();
      return;
    }
    const isRunning = this.timer !== undefined;
    this.stop();
    this.left = this.milliseconds;
    if (isRunning) this.start();
  }

  private readonly onTime = (): void => {
    this.end();
    this.expire();
  };
}
