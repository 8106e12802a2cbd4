/** Hands items from several writers to one reader. A writer waits until its item was taken, so nothing piles up. */
export class Inbox<T> {
  private readonly open: { item: T; taken: () => void }[] = [];
  private wake: () => void = () => undefined;

  /** Resolves when the reader has taken the item; never, if it stops reading. */
  put(item: T): Promise<void> {
    return new Promise((taken) => {
      this.open.push({ item, taken });
      this.wake();
    });
  }

  /** An item that waits already. */
  poll(): T | undefined {
    const next = this.open.shift();
    next?.taken();
    return next?.item;
  }

  /** The next item. Throws the signal's reason once it is aborted. */
  async take(signal: AbortSignal): Promise<T> {
    for (;;) {
      signal.throwIfAborted();
      const next = this.poll();
      if (next !== undefined) return next;
      await this.arrival(signal);
    }
  }

  private arrival(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.wake = wake;
      signal.addEventListener('abort', wake, { once: true });
    });
  }
}
