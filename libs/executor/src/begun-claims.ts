/** Milliseconds after which a claim that is still being taken is idle all the same: its statement may never be answered. */
const LONGEST_MS = 60_000;

/**
 * Tokens that this process claims Tasks with and has given to no execution yet. For a minute such a claim is not idle,
 * however slow the statement or the reading of the log is.
 */
export class BegunClaims {
  /** When each was begun, by `performance.now()`. */
  private readonly begunAt = new Map<string, number>();

  /** Calls `claim`, which claims a Task with the token, and begins its execution or gives the claim back. */
  async during<T>(token: string, claim: () => Promise<T>): Promise<T> {
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
