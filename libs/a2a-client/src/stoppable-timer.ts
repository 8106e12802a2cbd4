/** Longest delay of a timer of this runtime, in milliseconds. */
export const LONGEST_TIMER = 2 ** 31 - 1;

/** A timer that can be stopped and resumed with its remaining time. It starts running when created. */
export class StoppableTimer {
  private timer: NodeJS.Timeout | undefined;
  private since = 0;
  private left: number;

  /** @param milliseconds delay until it expires; infinite for a timer that never expires */
  constructor(
    private readonly milliseconds: number,
    private readonly expire: () => void,
  ) {
    this.left = milliseconds;
    this.start();
  }

  /** Resumes a stopped timer. */
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
  stopForGood(): void {
    this.stop();
    this.left = Infinity;
  }

  /** Restores the timer's full delay. */
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
    this.stopForGood();
    this.expire();
  };
}
