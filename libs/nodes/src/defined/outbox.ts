/** Hands things over, one after the other, to one reader. Whoever puts something in waits until it was taken. */
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

  /** What was put in before is still read; then the reader ends, or gets the error. */
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
