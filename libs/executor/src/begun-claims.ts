/**
 * Tokens that this process claims Tasks with and has given to no execution yet. However long the statement or the reading
 * of the log takes, such a claim is not idle.
 */
export class BegunClaims {
  private readonly tokens = new Set<string>();

  /** Calls `claim`, which claims a Task with the token, and begins its execution or gives the claim back. */
  async during<T>(token: string, claim: () => Promise<T>): Promise<T> {
    this.tokens.add(token);
    try {
      return await claim();
    } finally {
      this.tokens.delete(token);
    }
  }

  has(token: string): boolean {
    return this.tokens.has(token);
  }
}
