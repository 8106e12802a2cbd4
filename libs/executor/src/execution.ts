import { type Task, TaskChangedHands } from '#libs/protocol';
import type { RecordedEvent } from '#libs/tasks';

/** A Task that this process accepted and executes. */
export interface Execution {
  readonly taskId: string;
  readonly contextId: string;
  /** Whether an earlier request under the same `Idempotency-Key` began it. */
  readonly repeated?: true;
  /**
   * The Task as it was accepted and the sequence it reflects; resolves when that is durable. Unless the caller is an
   * execution of this process, rejects with status 503 after JOURNAL_STALL_LIMIT (see `acceptedInTime`).
   */
  readonly accepted: Promise<{ task: Task; sequence: number }>;
  /** The same, before it is durable. */
  readonly begunAs: { task: Task; sequence: number };
  /**
   * What is recorded after the acceptance, before it is durable, for one reader in this process (see LiveEvents). Ends
   * with the terminal or waiting state, or where this process stops working on the Task, as it does on one that is
   * parked. Only for calls with a `parent`.
   */
  readonly live: LiveEvents | undefined;
  /**
   * The Task in its terminal or waiting state; resolves when that is durable.
   * Rejects with ExecutionInterrupted when this process stops working on it before, also where it was parked.
   */
  readonly settled: Promise<Task>;
}

/** This process no longer executes the Task (shutdown, a lost claim, a Task that is parked); another one will, or does. */
export class ExecutionInterrupted extends TaskChangedHands {
  override readonly name = 'ExecutionInterrupted';
}

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
    try {
      for (;;) {
        const { events } = this;
        this.events = [];
        // Not `yield*`: each would be a promise more.
        for (const event of events) yield event;
        if (this.events.length > 0) continue;
        if (this.ended) return;
        await new Promise<void>((resolve) => {
          this.wake = resolve;
        });
      }
    } finally {
      // Its only reader has left: nothing is kept for it.
      this.ended = true;
      this.events = [];
    }
  }
}
