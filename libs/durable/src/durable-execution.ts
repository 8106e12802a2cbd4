import {
  type AcceptingCall,
  AgentExecutor,
  type ChainLink,
  chainMetadata,
  chainOf,
  endsTurn,
  keptChain,
  type RequestContext,
  TaskCanceled,
} from '#libs/executor';
import { type JsonObject, type SendMessageRequest, statusUpdate } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';

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

/** Start of an execution of a process. */
export interface ProcessStart {
  context: RequestContext;
  /** Log so far. */
  log: readonly TaskEvent[];
  /** Calls that led to the process. */
  links: readonly ChainLink[];
}

/**
 * Durable process as an agent: its Task is the process. After a crash any replica resumes it from its log. Recorded
 * steps are not repeated.
 */
export abstract class ProcessExecutor extends AgentExecutor {
  override readonly recovery = 'restart';
  override readonly callsAgents = true;
  /** Milliseconds to cancel the agents at work. */
  override readonly cancelGrace: number = 10_000;

  override taskMetadata(request: SendMessageRequest, call: AcceptingCall): JsonObject {
    return { ...this.describeRequest(request, call), ...chainMetadata(chainOf(request)) };
  }

  override async *execute(context: RequestContext): AsyncIterable<TaskEvent> {
    const process = await this.openProcess(context);
    yield* process.runToEnd();
  }

  /** Creates the process of an execution, here from its whole log. */
  protected async openProcess(context: RequestContext): Promise<DurableExecution<ProcessState>> {
    const log = await context.readTaskLog();
    return this.beginProcess({ context, log, links: linksOf(log[0]) });
  }

  /** Returns the metadata that the Task stores of its request: everything that a later execution needs. */
  protected abstract describeRequest(request: SendMessageRequest, call: AcceptingCall): JsonObject;

  protected abstract beginProcess(
    start: ProcessStart,
  ): DurableExecution<ProcessState> | Promise<DurableExecution<ProcessState>>;
}

/** Returns the calls that led to a process, from the first event of its log. */
export function linksOf(first: TaskEvent | undefined): ChainLink[] {
  return keptChain(first && 'task' in first ? first.task.metadata : undefined);
}
