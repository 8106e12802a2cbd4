import type { RecordedEvent } from '#libs/tasks';

/**
 * The events of an execution as they are recorded, before they are durable; for a caller in this process whose own
 * consequences go through the same journal, which keeps the order: what it concludes from an event is never durable
 * without the event.
 */
export class LiveEvents implements AsyncIterable<RecordedEvent> {
  private events: RecordedEvent[] = [];
  private ended = false;
  private wake: () => void = () => undefined;

  push(event: RecordedEvent): void {
    if (this.ended) return;
    this.events.push(event);
    this.wake();
  }

  /** Nothing more will come, or nobody listens any more. */
  end(): void {
    this.ended = true;
    this.wake();
  }

  /** Ends the reading when the signal aborts. */
  until(signal: AbortSignal | undefined): this {
    signal?.addEventListener('abort', () => this.end(), { once: true });
    return this;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<RecordedEvent, void, undefined> {
    for (;;) {
      const { events } = this;
      this.events = [];
      yield* events;
      if (this.events.length > 0) continue;
      if (this.ended) return;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }
}
