import type { IssuedToken } from './token-request.js';

/** So much of a token's life is left when another one is fetched, but never more than a minute. */
const SHARE_LEFT = 0.2;
const LONGEST_LEFT_MS = 60_000;

interface Current {
  value: string;
  freshUntil: number;
  endsAt: number;
}

/**
 * The token of one credential. However many calls want it at once, one request fetches it; another one is fetched before
 * it ends. While that fails a token that has not ended yet is used.
 */
export class CachedToken {
  private current: Current | undefined;
  private fetching: Promise<string> | undefined;

  /** @param now milliseconds of a clock that never goes back */
  constructor(
    private readonly fetch: () => Promise<IssuedToken>,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Rejects as `fetch` does. */
  async get(): Promise<string> {
    const { current } = this;
    if (current !== undefined && this.now() < current.freshUntil) return current.value;
    try {
      return await this.fetched();
    } catch (error) {
      const kept = this.current;
      if (kept !== undefined && this.now() < kept.endsAt) return kept.value;
      throw error;
    }
  }

  /** Another token than one that an agent did not accept: the one that was fetched since, else a new one. */
  async instead(refused: string): Promise<string> {
    if (this.current?.value === refused) this.current = undefined;
    return this.get();
  }

  private fetched(): Promise<string> {
    this.fetching ??= this.fetchOne().finally(() => (this.fetching = undefined));
    return this.fetching;
  }

  /** Its life counts from the request for it: the answer may have been on its way for long. */
  private async fetchOne(): Promise<string> {
    const askedAt = this.now();
    const { value, lifetimeMs } = await this.fetch();
    const left = Math.min(lifetimeMs * SHARE_LEFT, LONGEST_LEFT_MS);
    const endsAt = askedAt + lifetimeMs;
    this.current = { value, freshUntil: endsAt - left, endsAt };
    return value;
  }
}
