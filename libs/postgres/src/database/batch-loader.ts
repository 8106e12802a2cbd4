/**
 * Answers questions that come in together with one query. Every question is answered by a query that began after it was
 * asked, so an answer is as fresh as one of its own would be; under load the cost of a query is shared by all who wait.
 */
export class BatchLoader<K, V> {
  private waiting: { key: K; resolve(value: V | undefined): void; reject(error: unknown): void }[] = [];
  /** Queries under way. */
  private reading = 0;

  /**
   * @param read gives what it finds for the keys, each of them once
   * @param most questions of one query
   * @param atOnce queries under way: one that takes long keeps only its own questions waiting, beside others
   */
  constructor(
    private readonly read: (keys: readonly K[]) => Promise<ReadonlyMap<K, V>>,
    private readonly most = Infinity,
    private readonly atOnce = 1,
  ) {}

  /** What there is for a key; `undefined` where there is nothing. Rejects as the query does. */
  get(key: K): Promise<V | undefined> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ key, resolve, reject });
      if (this.reading >= this.atOnce) return;
      this.reading += 1;
      // What arrives in the same turn of the event loop is asked together.
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
