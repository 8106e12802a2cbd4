/**
 * Answers concurrent questions with one query. Each question is answered by a query that began after it was asked, so
 * an answer is as fresh as that of a separate query. Under load all askers share the cost of a query.
 */
export class BatchLoader<K, V> {
  private waiting: { key: K; resolve(value: V | undefined): void; reject(error: unknown): void }[] = [];
  /** Number of queries under way. */
  private reading = 0;

  /**
   * @param read returns the found values of the keys; each key is passed once
   * @param most maximum number of questions of one query
   * @param atOnce maximum number of concurrent queries: a slow query delays only its own questions
   */
  constructor(
    private readonly read: (keys: readonly K[]) => Promise<ReadonlyMap<K, V>>,
    private readonly most = Infinity,
    private readonly atOnce = 1,
  ) {}

  /** Returns the value of a key; `undefined` if there is none. Rejects like the query. */
  get(key: K): Promise<V | undefined> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ key, resolve, reject });
      if (this.reading >= this.atOnce) return;
      this.reading += 1;
      // Questions of the same turn of the event loop share a query.
      setImmediate(() => void this.readAll());
    });
  }

  private async readAll(): Promise<void> {
    while (this.waiting.length > 0) {
      const asked = this.waiting.splice(0, this.most);
      try {
        const found = await this.read([...new Set(asked.map(({ key }) => key))]);
        for (const question of asked) question.resolve(found.get(question.key));
      } catch (error) {
        for (const question of asked) question.reject(error);
      }
    }
    this.reading -= 1;
  }
}
