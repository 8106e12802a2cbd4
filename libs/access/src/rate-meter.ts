/** Number of requests in a period of milliseconds. */
export interface Rate {
  readonly requests: number;
  readonly perMs: number;
}

/**
 * Token bucket that holds the requests of one period and fills evenly. Its state is one number: the time at which it
 * will be full (the "generic cell rate algorithm").
 */
export class RateMeter {
  private fullAt = 0;
  private readonly each: number;

  constructor(private readonly rate: Rate) {
    this.each = rate.perMs / rate.requests;
  }

  /**
   * Takes one token.
   * @param now milliseconds of a monotonic clock
   * @returns 0, or the milliseconds until a token is available; nothing is taken then
   */
  takeToken(now: number): number {
    const fullAt = Math.max(this.fullAt, now) + this.each;
    // The tolerance keeps a sum of fractions from missing the last token.
    const wait = fullAt - now - this.rate.perMs - this.each / 1000;
    if (wait > 0) return wait;
    this.fullAt = fullAt;
    return 0;
  }

  /** True if the bucket is full. */
  isIdle(now: number): boolean {
    return now >= this.fullAt;
  }
}
