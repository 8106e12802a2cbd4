import { LRUCache } from 'lru-cache';

/** Answers younger than this are used as they are. */
const FRESH_MS = 1_000;
/** Answers older than this are used no more. In between one is used while a new one is fetched. */
export const LONGEST_MS = 2_000;

interface CachedAnswer<T> {
  value: T;
  askedAt: number;
  asking: boolean;
}

/**
 * What was found out about credentials, for a short time: no request waits for the database while its credentials are in
 * use, and nobody is let in longer than two seconds (`LONGEST_MS`) after a credential was revoked, at any replica.
 * Credentials that are not valid are not kept.
 */
export class CredentialCache<T> {
  private readonly kept = new LRUCache<string, CachedAnswer<T>>({ max: 10_000 });

  /**
   * @param ask finds out; `undefined` where the credential is not valid
   * @param now milliseconds of a clock that never goes back
   */
  constructor(
    private readonly ask: (digest: string) => Promise<T | undefined>,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** At once where it is known. Rejects as `ask` does. */
  of(digest: string): T | Promise<T | undefined> {
    const known = this.kept.get(digest);
    if (!known) return this.find(digest);
    const age = this.now() - known.askedAt;
    if (age >= LONGEST_MS) return this.find(digest);
    if (age >= FRESH_MS && !known.asking) {
      known.asking = true;
      // Whoever needs the answer asks again.
      this.find(digest).catch(() => (known.asking = false));
    }
    return known.value;
  }

  /** Forgets one credential here; the other replicas forget it in time. */
  forget(digest: string): void {
    this.kept.delete(digest);
  }

  private async find(digest: string): Promise<T | undefined> {
    const askedAt = this.now();
    const value = await this.ask(digest);
    if (value === undefined) this.kept.delete(digest);
    else this.kept.set(digest, { value, askedAt, asking: false });
    return value;
  }
}
