const MAX_ENTRIES = 1_000;

/** Keeps a thousand values; the longest unused one goes first. */
export class RecentlyUsed<V> {
  readonly #values = new Map<string, V>();

  get(key: string): V | undefined {
    const value = this.#values.get(key);
    if (value === undefined) return undefined;
    this.#values.delete(key);
    this.#values.set(key, value);
    return value;
  }

  set(key: string, value: V): void {
    this.#values.delete(key);
    this.#values.set(key, value);
    const oldest = this.#values.keys().next();
    if (this.#values.size > MAX_ENTRIES && !oldest.done) this.#values.delete(oldest.value);
  }

  delete(key: string): void {
    this.#values.delete(key);
  }
}
