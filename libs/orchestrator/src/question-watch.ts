const FIRST_LOOK_MS = 2_000;

/**
 * When a run that is at work looks what has become of that which it was asked: nobody wakes it for a Task that goes on
 * without its answer. Less often each time.
 */
export class QuestionWatch {
  private since: number | undefined;
  private at: number | undefined;

  /**
   * When to look next; `undefined` while nothing is asked.
   * @param now in milliseconds of the epoch
   */
  next(isAsked: boolean, now: number): number | undefined {
    if (!isAsked) {
      this.since = undefined;
      this.at = undefined;
      return undefined;
    }
    this.since ??= now;
    this.at ??= now + Math.max(FIRST_LOOK_MS, now - this.since);
    return this.at;
  }

  /** Whether to look now. It is told once. */
  isDue(now: number): boolean {
    if (this.at === undefined || now < this.at) return false;
    this.at = undefined;
    return true;
  }
}
