import { endsTurn, type RequestContext, TaskCanceled } from '#libs/executor';
import { type JsonObject, statusUpdate } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';

/** The events of one step, which is done while they are read. */
export type Steps = Iterable<TaskEvent> | AsyncIterable<TaskEvent>;

/** What a process's log folds to. */
export interface ProcessState {
  /** Takes in the next event of the log. */
  apply(event: TaskEvent): unknown;
}

/**
 * One execution of a durable process, from where its log ends. What is next follows from the folded log alone, whether
 * this execution wrote it or an earlier one: the loop does that one thing, yields what came of it, and looks again.
 */
export abstract class Process<State extends ProcessState> {
  private over = false;

  /** @param state of the log so far */
  constructor(
    protected readonly context: RequestContext,
    protected readonly state: State,
  ) {}

  /** The calls of this execution, whose connections are closed with it. */
  protected abstract readonly calls: { abort(): void };

  /** Until an event ends the turn. @throws why the execution was interrupted: it goes on elsewhere */
  async *events(): AsyncGenerator<TaskEvent, void, undefined> {
    const { signal } = this.context;
    try {
      while (!this.over) {
        signal.throwIfAborted();
        yield* this.next();
      }
    } catch (error) {
      if (signal.reason instanceof TaskCanceled) yield* this.cancel();
      else if (signal.aborted) throw error;
      else yield* this.fail(error);
    } finally {
      // A fault, or a limit of the Task, ends it without a word of this process.
      if ((!this.over || this.context.isRefused?.()) && !signal.aborted) await this.endCalls().catch(() => undefined);
      this.calls.abort();
    }
  }

  /**
   * The one thing to do next, as far as it can be done now. Which one follows from the state alone: no I/O, no clock. It
   * yields nothing but what it has recorded.
   */
  protected abstract next(): Steps;

  /** Stops what is under way, and ends the Task as its caller wished. */
  protected abstract cancel(): Steps;

  /** Ends the Task after a fault of ours: FAILED, with a sentence that says nothing, unless a process knows better. */
  protected fail(error: unknown): Steps {
    throw error;
  }

  /** Cancels the agents at work and those that wait, where the log alone knows the Tasks of those elsewhere. */
  protected async endCalls(): Promise<void> {
    // The job of such an end cancels what is known beside the log.
  }

  /** Folds an event, which is to be yielded then. */
  protected record(event: TaskEvent): TaskEvent {
    this.state.apply(event);
    this.over = endsTurn(event);
    return event;
  }

  /** Records an event that says only what its metadata says. */
  protected step(metadata: JsonObject): TaskEvent {
    return this.record(statusUpdate(this.context, 'TASK_STATE_WORKING', undefined, metadata));
  }
}
