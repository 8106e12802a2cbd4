const FIRST_LOOK_MS = 2_000;

/**
 * Schedules when an executing run polls the Tasks of its open questions: a Task that resumes without the run's answer
 * does not wake the run. The interval grows with the age of the questions.
 */
export class QuestionPoller {
  private since: number | undefined;
  private at: number | undefined;

  /**
   * Returns the time of the next poll; `undefined` while no question is open.
   * @param now in milliseconds of the epoch
   */
  nextPollAt(isAsked: boolean, now: number): number | undefined {
    if (!isAsked) {
      this.since = undefined;
      this.at = undefined;
      return undefined;
    }
    this.since ??= now;
    this.at ??= now + Math.max(FIRST_LOOK_MS, now - this.since);
    return this.at;
  }

  /** True if a poll is due. Each due time is reported once. */
  isDue(now: number): boolean {
    if (this.at === undefined || now < this.at) return false;
    this.at = undefined;
    return true;
  }
}
