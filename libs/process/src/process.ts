import { endsTurn, type RequestContext, TaskCanceled } from '#libs/executor';
import { type JsonObject, statusUpdate } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';

/** Events of one step. The step runs while they are read. */
export type Steps = Iterable<TaskEvent> | AsyncIterable<TaskEvent>;

/** State that a process's log folds to. */
export interface ProcessState {
  /** Applies the next event of the log. */
  apply(event: TaskEvent): unknown;
}

/**
 * Execution of a durable process, from the end of its log. The folded log alone determines the next step, whichever
 * execution wrote it: the loop runs that step, yields its events, and repeats.
 */
export abstract class DurableExecution<State extends ProcessState> {
  private over = false;

  /** @param state fold of the log so far */
  constructor(
    protected readonly context: RequestContext,
    protected readonly state: State,
  ) {}

  /** Calls of this execution; their connections close with it. */
  protected abstract readonly calls: { abort(): void };

  /**
   * Runs steps until an event ends the turn. @throws the reason of an interruption, after which another execution
   * continues
   */
  async *runToEnd(): AsyncGenerator<TaskEvent, void, undefined> {
    const { signal } = this.context;
    try {
      while (!this.over) {
        signal.throwIfAborted();
        yield* this.next();
      }
    } catch (error) {
      if (signal.reason instanceof TaskCanceled) yield* this.endCanceled();
      else if (signal.aborted) throw error;
      else yield* this.endFailed(error);
    } finally {
      // A fault, or a limit of the Task, ends it without an event of this process.
      if ((!this.over || this.context.isRefused?.()) && !signal.aborted) await this.endCalls().catch(() => undefined);
      this.calls.abort();
    }
  }

  /**
   * Runs the next step, as far as it can run now. The state alone determines which: no I/O, no clock. It yields only
   * events that it has recorded.
   */
  protected abstract next(): Steps;

  /** Stops the work in progress, and ends the Task as canceled. */
  protected abstract endCanceled(): Steps;

  /** Ends the Task after an internal fault: FAILED, with a generic sentence unless a process overrides it. */
  protected endFailed(error: unknown): Steps {
    throw error;
  }

  /** Cancels the agents that work or wait, if the log is the only place that knows the Tasks elsewhere. */
  protected async endCalls(): Promise<void> {
    // The job of such an end cancels Tasks that are known beside the log.
  }

  /** Folds an event into the state. The caller has to yield it. */
  protected recordEvent(event: TaskEvent): TaskEvent {
    this.state.apply(event);
    this.over = endsTurn(event);
    return event;
  }

  /** Records an event that carries metadata alone. */
  protected recordMetadata(metadata: JsonObject): TaskEvent {
    return this.recordEvent(statusUpdate(this.context, 'TASK_STATE_WORKING', undefined, metadata));
  }
}
