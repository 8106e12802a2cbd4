/** Milliseconds after which a claim counts as idle although its statement is still open: it may never be answered. */
const LONGEST_MS = 60_000;

/**
 * Tokens of claims that this process is taking and has not given to an execution yet. For a minute such a claim is not
 * idle, however slow the statement or the reading of the log is.
 */
export class BegunClaims {
  /** Start of each claim, by `performance.now()`. */
  private readonly begunAt = new Map<string, number>();

  /** Runs `claim`, which claims a Task with the token and then starts its execution or returns the claim. */
  async runClaiming<T>(token: string, claim: () => Promise<T>): Promise<T> {
    this.begunAt.set(token, performance.now());
    try {
      return await claim();
    } finally {
      this.begunAt.delete(token);
    }
  }

  has(token: string): boolean {
    const begunAt = this.begunAt.get(token);
    return begunAt !== undefined && performance.now() - begunAt < LONGEST_MS;
  }
}
