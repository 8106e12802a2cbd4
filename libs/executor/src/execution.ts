import { type Task, TaskChangedHands } from '#libs/protocol';
import type { RecordedEvent } from '#libs/tasks';

/** Task that this process accepted and executes. */
export interface Execution {
  readonly taskId: string;
  readonly contextId: string;
  /** True if an earlier request under the same `Idempotency-Key` started it. */
  readonly repeated?: true;
  /**
   * The accepted Task and its sequence; resolves when both are durable. Unless the caller is an execution of this
   * process, rejects with status 503 after JOURNAL_STALL_LIMIT (see `acceptedInTime`).
   */
  readonly accepted: Promise<{ task: Task; sequence: number }>;
  /** The accepted Task and its sequence, before they are durable. */
  readonly begunAs: { task: Task; sequence: number };
  /**
   * Events recorded after the acceptance, before they are durable, for one reader in this process (see LiveEvents).
   * Ends with the terminal or waiting state, or when this process stops working on the Task, also because it is parked.
   * Only for calls with a `parent`.
   */
  readonly live: LiveEvents | undefined;
  /**
   * The Task in its terminal or waiting state; resolves when that is durable. Rejects with ExecutionInterrupted if this
   * process stops working on it first, also because it is parked.
   */
  readonly settled: Promise<Task>;
}

/**
 * Error after this process has stopped executing a Task (shutdown, lost claim or parked Task). Another process executes
 * it, or will.
 */
export class ExecutionInterrupted extends TaskChangedHands {
  override readonly name = 'ExecutionInterrupted';
}

/**
 * Events of an execution as they are recorded, before they are durable. For a caller in this process whose own events
 * go through the same journal: the journal keeps the order, so no conclusion becomes durable before the event it
 * depends on.
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

  /** Ends the stream. Later events are dropped. */
  endStream(): void {
    this.ended = true;
    this.wake();
  }

  /** Ends the stream when the signal aborts. */
  endOnAbort(signal: AbortSignal | undefined): this {
    signal?.addEventListener('abort', () => this.endStream(), { once: true });
    return this;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<RecordedEvent, void, undefined> {
    try {
      for (;;) {
        const { events } = this;
        this.events = [];
        // Not `yield*`, which costs one more promise per event.
        for (const event of events) yield event;
        if (this.events.length > 0) continue;
        if (this.ended) return;
        await new Promise<void>((resolve) => {
          this.wake = resolve;
        });
      }
    } finally {
      // The only reader has left, so nothing is kept.
      this.ended = true;
      this.events = [];
    }
  }
}
