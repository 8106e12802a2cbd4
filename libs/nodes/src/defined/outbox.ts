/** Hands items to one reader, one after the other. `put` resolves once its item is taken. */
export class Outbox<T> implements AsyncIterable<T> {
  private readonly waiting: { item: T; taken(): void }[] = [];
  private ended: { error?: unknown } | undefined;
  private wake: () => void = () => undefined;

  put(item: T): Promise<void> {
    return new Promise((taken) => {
      this.waiting.push({ item, taken });
      this.wake();
    });
  }

  /** Ends the reader, with an error if given. Items that were put before are still read. */
  end(failure: { error?: unknown } = {}): void {
    this.ended ??= failure;
    this.wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, void> {
    for (;;) {
      const next = this.waiting.shift();
      if (next) {
        next.taken();
        yield next.item;
      } else if (this.ended) {
        if ('error' in this.ended) throw this.ended.error;
        return;
      } else {
        await new Promise<void>((resolve) => (this.wake = resolve));
      }
    }
  }
}
