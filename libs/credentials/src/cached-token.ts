import type { IssuedToken } from './token-request.js';

/** Fraction of a token's lifetime that remains when it is refreshed, at most one minute. */
const SHARE_LEFT = 0.2;
const LONGEST_LEFT_MS = 60_000;

interface Current {
  value: string;
  freshUntil: number;
  endsAt: number;
}

/**
 * Token of one credential. Concurrent calls share one request for it, and it is refreshed before it expires. If the
 * refresh fails, an unexpired token stays in use.
 */
export class CachedToken {
  private current: Current | undefined;
  private fetching: Promise<string> | undefined;

  /** @param now milliseconds of a monotonic clock */
  constructor(
    private readonly fetch: () => Promise<IssuedToken>,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Returns the token. Rejects like `fetch`. */
  async get(): Promise<string> {
    const { current } = this;
    if (current !== undefined && this.now() < current.freshUntil) return current.value;
    try {
      return await this.fetchShared();
    } catch (error) {
      const kept = this.current;
      if (kept !== undefined && this.now() < kept.endsAt) return kept.value;
      throw error;
    }
  }

  /** Returns another token than one that an agent rejected: the one fetched since, else a new one. */
  async replaceRefused(refused: string): Promise<string> {
    if (this.current?.value === refused) this.current = undefined;
    return this.get();
  }

  private fetchShared(): Promise<string> {
    this.fetching ??= this.fetchOne().finally(() => (this.fetching = undefined));
    return this.fetching;
  }

  /** Fetches a token. Its lifetime counts from the request, since the response may have been slow. */
  private async fetchOne(): Promise<string> {
    const askedAt = this.now();
    const { value, lifetimeMs } = await this.fetch();
    const left = Math.min(lifetimeMs * SHARE_LEFT, LONGEST_LEFT_MS);
    const endsAt = askedAt + lifetimeMs;
    this.current = { value, freshUntil: endsAt - left, endsAt };
    return value;
  }
}
