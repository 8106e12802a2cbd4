/** Queue from several writers to one reader. A writer waits until its item is taken, so the queue never grows. */
export class Inbox<T> {
  private readonly open: { item: T; taken: () => void }[] = [];
  private wake: () => void = () => undefined;

  /** Adds an item. Resolves when the reader has taken it; never, if the reader stops. */
  put(item: T): Promise<void> {
    return new Promise((taken) => {
      this.open.push({ item, taken });
      this.wake();
    });
  }

  /** Takes an item if one is waiting. */
  poll(): T | undefined {
    const next = this.open.shift();
    next?.taken();
    return next?.item;
  }

  /** Takes the next item, waiting for it. @throws the signal's reason */
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
