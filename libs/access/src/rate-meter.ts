/** So many requests in so many milliseconds. */
export interface Rate {
  readonly requests: number;
  readonly perMs: number;
}

/**
 * A token bucket that holds one period's requests and fills evenly, kept as one number: the time at which it will be
 * full again (the "generic cell rate algorithm").
 */
export class RateMeter {
  private fullAt = 0;
  private readonly each: number;

  constructor(private readonly rate: Rate) {
    this.each = rate.perMs / rate.requests;
  }

  /**
   * Takes one token.
   * @param now milliseconds of a clock that never goes back
   * @returns 0, or, where there is none, the milliseconds until there is; nothing is taken then
   */
  take(now: number): number {
    const fullAt = Math.max(this.fullAt, now) + this.each;
    // The tolerance keeps a sum of fractions from missing the last token.
    const wait = fullAt - now - this.rate.perMs - this.each / 1000;
    if (wait > 0) return wait;
    this.fullAt = fullAt;
    return 0;
  }

  /** Whether it is full. */
  isIdle(now: number): boolean {
    return now >= this.fullAt;
  }
}
