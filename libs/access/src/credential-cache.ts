import { LRUCache } from 'lru-cache';

/** Age below which an answer is used as it is, in milliseconds. */
const FRESH_MS = 1_000;
/** Age above which an answer is not used, in milliseconds. In between it is used while a new one is fetched. */
export const LONGEST_MS = 2_000;

interface CachedAnswer<T> {
  value: T;
  askedAt: number;
  asking: boolean;
}

/**
 * Caches verified credentials for a short time.
 * - Requests with credentials in use do not wait for the database.
 * - A revoked credential is accepted for at most two seconds (`LONGEST_MS`), at any replica.
 * - Invalid credentials are not cached.
 */
export class CredentialCache<T> {
  private readonly kept = new LRUCache<string, CachedAnswer<T>>({ max: 10_000 });

  /**
   * @param ask verifies a credential; returns `undefined` for an invalid one
   * @param now milliseconds of a monotonic clock
   */
  constructor(
    private readonly ask: (digest: string) => Promise<T | undefined>,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Looks a credential up; synchronous if it is cached. Rejects like `ask`. */
  lookUp(digest: string): T | Promise<T | undefined> {
    const known = this.kept.get(digest);
    if (!known) return this.askAndKeep(digest);
    const age = this.now() - known.askedAt;
    if (age >= LONGEST_MS) return this.askAndKeep(digest);
    if (age >= FRESH_MS && !known.asking) {
      known.asking = true;
      // A failed refresh is retried by the next request.
      this.askAndKeep(digest).catch(() => (known.asking = false));
    }
    return known.value;
  }

  /** Removes one credential from this cache; other replicas drop it by age. */
  forgetCredential(digest: string): void {
    this.kept.delete(digest);
  }

  private async askAndKeep(digest: string): Promise<T | undefined> {
    const askedAt = this.now();
    const value = await this.ask(digest);
    if (value === undefined) this.kept.delete(digest);
    else this.kept.set(digest, { value, askedAt, asking: false });
    return value;
  }
}
