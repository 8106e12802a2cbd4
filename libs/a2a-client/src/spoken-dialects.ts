import { LRUCache } from 'lru-cache';

/**
 * Dialect of an agent whose card names none: A2A 1.0, the pre-1.0 dialect, or its bare form, without members that it
 * does not define.
 */
export type SpokenDialect = '1.0' | 'pre-1.0' | 'bare pre-1.0';

const MOST_AGENTS = 1_000;

/** Remembers the detected dialects of agents, each for a time after its last answer, at most a thousand. */
export class SpokenDialects {
  readonly #known: LRUCache<string, SpokenDialect> | undefined;

  /** @param maxAge milliseconds; 0 remembers nothing */
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
