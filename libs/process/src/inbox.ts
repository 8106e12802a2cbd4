/** Queue from several writers to one reader. A writer waits until its item is taken, so the queue never grows. */
export class AsyncQueue<T> {
  private readonly open: { item: T; taken: () => void }[] = [];
  private wakeReader: () => void = () => undefined;

  /** Adds an item. Resolves when the reader has taken it; never, if the reader stops. */
  putItem(item: T): Promise<void> {
    return new Promise((taken) => {
      this.open.push({ item, taken });
      this.wakeReader();
    });
  }

  /** Takes an item if one is waiting. */
  pollItem(): T | undefined {
    const next = this.open.shift();
    next?.taken();
    return next?.item;
  }

  /** Takes the next item, waiting for it. @throws the signal's reason */
  async takeItem(signal: AbortSignal): Promise<T> {
    for (;;) {
      signal.throwIfAborted();
      const next = this.pollItem();
      if (next !== undefined) return next;
      await this.waitForItem(signal);
    }
  }

  private waitForItem(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const endWait = (): void => {
        signal.removeEventListener('abort', endWait);
        resolve();
      };
      this.wakeReader = endWait;
      signal.addEventListener('abort', endWait, { once: true });
    });
  }
}
