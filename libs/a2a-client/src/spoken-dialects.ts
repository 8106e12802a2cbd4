import { LRUCache } from 'lru-cache';

/**
 * The dialect of an agent whose card does not name one: A2A 1.0, the pre-1.0 dialect, or that dialect in a form which takes no
 * member that it does not name.
 */
export type SpokenDialect = '1.0' | 'pre-1.0' | 'bare pre-1.0';

const MOST_AGENTS = 1_000;

/** Remembers what agents were found to speak, each for a time after its last answer, and a thousand at most. */
export class SpokenDialects {
  readonly #known: LRUCache<string, SpokenDialect> | undefined;

  /** @param maxAge milliseconds; 0: nothing is remembered */
  constructor(maxAge: number) {
    this.#known = maxAge > 0 ? new LRUCache({ max: MOST_AGENTS, ttl: maxAge }) : undefined;
  }

  get(endpoint: string): SpokenDialect | undefined {
    return this.#known?.get(endpoint);
  }

  set(endpoint: string, dialect: SpokenDialect): void {
    this.#known?.set(endpoint, dialect);
  }

  delete(endpoint: string): void {
    this.#known?.delete(endpoint);
  }
}
