/** Hands items to one reader, one after the other. `putItem` resolves once its item is taken. */
export class Outbox<T> implements AsyncIterable<T> {
  private readonly waiting: { item: T; onTaken(): void }[] = [];
  private ended: { error?: unknown } | undefined;
  private wakeReader: () => void = () => undefined;

  putItem(item: T): Promise<void> {
    return new Promise((taken) => {
      this.waiting.push({ item, onTaken: taken });
      this.wakeReader();
    });
  }

  /** Ends the reader, with an error if given. Items that were put before are still read. */
  endItems(failure: { error?: unknown } = {}): void {
    this.ended ??= failure;
    this.wakeReader();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, void> {
    for (;;) {
      const next = this.waiting.shift();
      if (next) {
        next.onTaken();
        yield next.item;
      } else if (this.ended) {
        if ('error' in this.ended) throw this.ended.error;
        return;
      } else {
        await new Promise<void>((resolve) => (this.wakeReader = resolve));
      }
    }
  }
}
