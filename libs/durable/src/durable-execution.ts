import type { AgentDirectory, CancelOutcome } from '#libs/a2a-client';
import {
  type AcceptingCall,
  AgentExecutor,
  type CallChains,
  type ChainLink,
  chainMetadata,
  chainOf,
  keptChain,
  type RequestContext,
  TaskCanceled,
} from '#libs/agents';
import { retryWhileDatabaseDown } from '#libs/postgres';
import { type JsonObject, type SendMessageRequest, statusUpdate } from '#libs/protocol';
import { unlessAborted } from '#libs/service';
import { endsTurn, type TaskEvent, type TaskStore } from '#libs/tasks';
import { type AgentCallSpec, type CallIdentity, type CanceledCall, cancelTask } from './agent-call-spec.js';
import { AgentCall } from './agent-call.js';
import type { CallOutcome } from './call-outcome.js';

/**
 * Queue with several writers and one reader. `putItem` resolves only when its item is taken, so a writer that awaits it
 * has at most one item in the queue.
 */
export class AsyncQueue<T> {
  private readonly open: { item: T; taken: () => void }[] = [];
  private wakeReader: () => void = () => undefined;

  /** Adds an item. Resolves when the reader has taken it; stays pending if the reader stops. */
  putItem(item: T): Promise<void> {
    return new Promise((taken) => {
      this.open.push({ item, taken });
      this.wakeReader();
    });
  }

  /** Takes the oldest item; `undefined` if there is none. */
  pollItem(): T | undefined {
    const next = this.open.shift();
    next?.taken();
    return next?.item;
  }

  /** Takes the oldest item, and waits if there is none. @throws the signal's reason */
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

/** Events of one step of a process. The step is executed while its events are read. */
export type Steps = Iterable<TaskEvent> | AsyncIterable<TaskEvent>;

/** State of a durable process (a run, a conversation or a brainstorm): the result of applying its log. */
export interface ProcessState {
  /** Applies the next event of the log. */
  apply(event: TaskEvent): unknown;
}

/**
 * Execution of a durable process (a run, a conversation or a brainstorm). It continues from the end of the process's
 * log. Only the state after the log determines the next step, even if another execution wrote the log. The loop in
 * `runToEnd` executes that step, yields its events, and repeats.
 */
export abstract class DurableExecution<State extends ProcessState> {
  private over = false;

  /** @param state state of the process after the events of the log so far */
  constructor(
    protected readonly context: RequestContext,
    protected readonly state: State,
  ) {}

  /** Calls of this execution. Their connections are closed when the execution ends. */
  protected abstract readonly calls: { abort(): void };

  /**
   * Executes steps until an event ends the turn.
   * @throws the reason of the signal if this execution is interrupted; a later execution then continues the process
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
      // A fault, or a limit of the Task, ends the Task without an event of this process.
      const isCutShort = !this.over || this.context.isRefused?.();
      if (isCutShort && !signal.aborted) await this.endCalls().catch(() => undefined);
      this.calls.abort();
    }
  }

  /**
   * Returns the next step of the process, as far as it can be executed now. Only the state determines the step: no I/O,
   * no clock. A step yields only events that were passed to `recordEvent`.
   */
  protected abstract next(): Steps;

  /** Stops the work in progress, and yields the events that end the Task as canceled. */
  protected abstract endCanceled(): Steps;

  /**
   * Yields the events that end the Task after an internal fault. By default rethrows the error; the Task then ends as
   * FAILED with a general sentence.
   */
  protected endFailed(error: unknown): Steps {
    throw error;
  }

  /**
   * Cancels the Tasks of called agents that are working or waiting. Called if the Task of this process is ended, but
   * not by an event of this execution: for example by a fault or a limit of the Task. By default does nothing, because
   * a job cancels the child Tasks that are stored. Overridden where Tasks of remote agents are only in the log.
   */
  protected async endCalls(): Promise<void> {
    // The job END_CHILDREN cancels the Tasks that are known outside the log.
  }

  /** Applies an event to the state, and returns the event. The caller has to yield it. */
  protected recordEvent(event: TaskEvent): TaskEvent {
    this.state.apply(event);
    this.over = endsTurn(event);
    return event;
  }

  /**
   * Creates a status event in state WORKING that has only metadata, and applies it to the state. The caller has to
   * yield it.
   */
  protected recordMetadata(metadata: JsonObject): TaskEvent {
    return this.recordEvent(statusUpdate(this.context, 'TASK_STATE_WORKING', undefined, metadata));
  }
}

/** Data for starting an execution of a durable process. */
export interface ProcessStart {
  context: RequestContext;
  /** Events of the process so far. */
  log: readonly TaskEvent[];
  /** Call chain that led to the process. */
  links: readonly ChainLink[];
}

/**
 * Agent whose Tasks are durable processes. After a crash any replica resumes a process from its log. Recorded steps are
 * not repeated.
 */
export abstract class ProcessExecutor extends AgentExecutor {
  override readonly recovery = 'restart';
  override readonly callsAgents = true;
  /** Maximum time, in milliseconds, that a canceled process has to cancel the Tasks of agents that it has called. */
  override readonly cancelGrace: number = 10_000;

  override taskMetadata(request: SendMessageRequest, call: AcceptingCall): JsonObject {
    return { ...this.describeRequest(request, call), ...chainMetadata(chainOf(request)) };
  }

  override async *execute(context: RequestContext): AsyncIterable<TaskEvent> {
    const process = await this.openProcess(context);
    yield* process.runToEnd();
  }

  /** Creates the process for an execution. By default, the whole log of the Task is read for that. */
  protected async openProcess(context: RequestContext): Promise<DurableExecution<ProcessState>> {
    const log = await context.readTaskLog();
    return this.beginProcess({ context, log, links: linksOf(log[0]) });
  }

  /**
   * Returns the metadata to store with the Task of a new process: all data of the request that later executions need.
   */
  protected abstract describeRequest(request: SendMessageRequest, call: AcceptingCall): JsonObject;

  protected abstract beginProcess(
    start: ProcessStart,
  ): DurableExecution<ProcessState> | Promise<DurableExecution<ProcessState>>;
}

/** Returns the call chain that led to a process, from the first event of its log. */
export function linksOf(first: TaskEvent | undefined): ChainLink[] {
  return keptChain(first && 'task' in first ? first.task.metadata : undefined);
}

/** Tasks by the call that created them: pairs of the call's reference and the Task's id. */
type TasksByReference = Iterable<readonly [reference: string, taskId: string]>;

interface EarlierTaskSources {
  /** Store that finds Tasks of this service's agents by the Task that called them and the reference of the call. */
  tasks: Pick<TaskStore, 'recordedChildren'>;
  /**
   * Reads the Tasks that remote agents created for earlier executions. Absent if all of them are in the log of the
   * process.
   */
  remembered?: (signal: AbortSignal) => Promise<TasksByReference>;
}

/**
 * Finds Tasks that agents have created for calls of earlier executions, but that the process's log does not name. They
 * are read once, at the first lookup.
 */
export class EarlierTasks {
  private readonly own: SharedRead;
  private readonly elsewhere: SharedRead;

  constructor({ tasks, remembered }: EarlierTaskSources, taskId: string) {
    this.own = new SharedRead(async (signal) => {
      const children = await retryWhileDatabaseDown(() => tasks.recordedChildren(taskId), signal);
      return children.map((it) => [it.parentReference ?? '', it.taskId]);
    });
    this.elsewhere = new SharedRead(async (signal) => remembered?.(signal) ?? []);
  }

  /**
   * Returns the id of the Task that a call created; `undefined` if none is found. Tasks of remote agents are read only
   * if no agent of this service has the Task.
   * @throws the reason of the signal, or the error of the read, which the next lookup repeats
   */
  async findTask(reference: string, signal: AbortSignal): Promise<string | undefined> {
    return (await this.own.readOnce(signal)).get(reference) ?? (await this.elsewhere.readOnce(signal)).get(reference);
  }
}

/** Read whose result is cached and shared. A failed read is repeated by the next caller. */
class SharedRead {
  private underWay: { found: Promise<ReadonlyMap<string, string>>; signal: AbortSignal } | undefined;

  constructor(private readonly read: (signal: AbortSignal) => Promise<TasksByReference>) {}

  /** Returns the result of the shared read. If another caller's signal has aborted that read, reads again. */
  async readOnce(signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
    const reading = (this.underWay ??= { found: this.readFirst(signal), signal });
    try {
      return await reading.found;
    } catch (error) {
      if (this.underWay === reading) this.underWay = undefined;
      if (!reading.signal.aborted || signal.aborted) throw error;
      return this.readOnce(signal);
    }
  }

  /**
   * Reads with `read`, but rejects as soon as the signal aborts, because a running SQL statement does not end with the
   * signal.
   */
  private async readFirst(signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
    return new Map(await unlessAborted(this.read(signal), signal));
  }
}

/** Services that every process uses. */
export interface ProcessServices {
  directory: AgentDirectory;
  tasks: EarlierTaskSources['tasks'];
  chains: CallChains;
}

/** Process that calls agents. */
interface CallingProcess {
  context: RequestContext;
  /** Call chain that led to the process. */
  links: readonly ChainLink[];
  /** Path of the process's agent in the call chain; absent: the path that the caller addressed. */
  agent?: string;
  remembered?: EarlierTaskSources['remembered'];
  /** True if the process has a budget, which limits everything that its calls lead to. */
  hasBudget?: boolean;
}

/** Agent that a process calls. `reference` identifies the call among the calls of the process. */
export interface CalledAgent extends Pick<AgentCallSpec, 'findTarget' | 'own'> {
  /** Name of the call within the process, the same in every execution. The agent's Task is found by this name. */
  reference: string;
  /** Id of the agent's Task, if the log of the process contains it; otherwise absent. */
  seen?: string;
  identity?: Omit<CallIdentity, 'scope' | 'parent'>;
}

/**
 * Call that a process is about to make.
 * - `admit` is called only if no Task of the call is known.
 * - `since` is the time of the event that records the call in the log. It is ignored if this execution recorded the
 *   call. If an earlier execution did, a remote agent may have the Message even if no Task is known.
 */
export interface PlannedCall
  extends
    CalledAgent,
    Pick<
      AgentCallSpec,
      | 'request'
      | 'adapt'
      | 'complete'
      | 'context'
      | 'admit'
      | 'forgotten'
      | 'limit'
      | 'missed'
      | 'onPause'
      | 'onRestart'
      | 'since'
      | 'resends'
      | 'timeouts'
    > {
  /** True if the called agent makes no calls itself, so that the Message needs no call chain. */
  callsNobody?: boolean;
  /** True if the agent works in this process. */
  staysHere?: boolean;
}

/** Time limit for finding the Tasks of earlier executions during a cancel, in milliseconds. */
const FINDING_MS = 5_000;

/**
 * Calls that one execution of a process makes to agents. Each call is first announced: recorded by an event of the log.
 * If this execution did not announce a call, an earlier execution may have made it; in that case the Task of the call
 * is followed.
 */
export class ProcessCalls {
  private readonly calls = new Map<string, AgentCall>();
  /**
   * Time, by `performance.now()`, at which this execution announced each call (recorded it in the log), by reference.
   * Taken before the event is recorded.
   */
  private readonly announced = new Map<string, number>();
  /** Tasks of calls that earlier executions made, in this service and elsewhere. */
  private readonly earlier: EarlierTasks;

  constructor(
    private readonly services: ProcessServices,
    private readonly process: CallingProcess,
  ) {
    const { context, remembered } = process;
    this.earlier = new EarlierTasks({ tasks: services.tasks, ...(remembered && { remembered }) }, context.taskId);
  }

  /**
   * Marks a call as new. Call this immediately before yielding the event that records the call. No earlier execution
   * can have made a new call.
   */
  announceCall(reference: string): void {
    this.announced.set(reference, performance.now());
  }

  /** True if this execution recorded the call in the log. No earlier execution has made it then. */
  isNew(reference: string): boolean {
    return this.announced.has(reference);
  }

  /**
   * Opens a call to run: a new call, or the rest of a call that an earlier execution began.
   * @throws the signal's reason
   */
  async openCall(planned: PlannedCall): Promise<AgentCall> {
    const { reference } = planned;
    const call = this.createCall(planned, await this.findKnownTask(planned));
    this.calls.set(reference, call);
    return call;
  }

  /** Forgets an ended call. */
  close(reference: string): void {
    this.calls.delete(reference);
    this.announced.delete(reference);
  }

  /** Returns the id of the Task that a call created; `undefined` if it is not known. Never throws. */
  async findTaskId({ reference, seen }: Pick<CalledAgent, 'reference' | 'seen'>): Promise<string | undefined> {
    const known = this.calls.get(reference)?.taskId ?? seen;
    if (known !== undefined || this.announced.has(reference)) return known;
    return this.earlier.findTask(reference, AbortSignal.timeout(FINDING_MS)).catch(() => undefined);
  }

  /** Returns the id of the Task that an open call created; `undefined` if it is not known. */
  taskIdOf(reference: string): string | undefined {
    return this.calls.get(reference)?.taskId;
  }

  /**
   * Returns the failure of an open call whose agent cannot be reached and has received nothing; `undefined` for any
   * other call.
   */
  refusalOf(reference: string): CallOutcome | undefined {
    const call = this.calls.get(reference);
    const failure = call?.refusal;
    return call && failure && { kind: 'failed', answer: call.answer, failure };
  }

  /** Closes the connections of all calls; the agents continue. */
  abort(): void {
    for (const call of this.calls.values()) call.abort();
  }

  /** Gives up a call and cancels its Task, even if an earlier execution created the Task. Never throws. */
  async cancelCall(called: CalledAgent): Promise<CanceledCall> {
    const { reference, own, seen } = called;
    const [open, isNew] = [this.calls.get(reference), this.announced.has(reference)];
    this.close(reference);
    const canceled = await open?.cancelCall();
    if (canceled?.taskId !== undefined) return canceled;
    try {
      const taskId =
        seen ?? (isNew ? undefined : await this.earlier.findTask(reference, AbortSignal.timeout(FINDING_MS)));
      if (taskId !== undefined) return { taskId, outcome: await this.cancelTask(called, taskId) };
    } catch {
      return { outcome: 'unknown' };
    }
    // For a local agent the lookup is reliable, so no Task means that nothing was started.
    const maybeSent = canceled?.outcome === 'unknown' || !(isNew || own);
    return { outcome: maybeSent ? 'unknown' : 'not-started' };
  }

  /** Cancels a Task of an agent without an open call to that agent. Never throws. */
  async cancelTask(called: CalledAgent, taskId: string): Promise<CancelOutcome> {
    try {
      const { url } = await called.findTarget();
      return await cancelTask(this.services.directory, url, taskId, this.callIdentity(called));
    } catch {
      return 'unreachable';
    }
  }

  private createCall(planned: PlannedCall, known: string | undefined): AgentCall {
    const { context, links, agent = context.call.agent, hasBudget = false } = this.process;
    const { reference, identity: _identity, seen: _seen, callsNobody, staysHere, admit, since, ...spec } = planned;
    const announcedAt = this.announced.get(reference);
    // An agent that makes no calls still needs the chain to find the budgets of its calls of models.
    const needsChain = !callsNobody || hasBudget || links.some(({ budget }) => budget !== undefined);
    return new AgentCall(this.services.directory, {
      ...spec,
      identity: this.callIdentity(planned),
      signal: context.signal,
      by: {
        context,
        agent,
        ...(needsChain && { chain: { links, signer: this.services.chains, hasBudget } }),
        ...(announcedAt !== undefined && { announcedAt }),
        ...(staysHere && { staysHere }),
      },
      ...(known !== undefined && { known }),
      ...(announcedAt === undefined && since !== undefined && { since }),
      ...(known === undefined && admit && { admit }),
    });
  }

  private async findKnownTask({ reference, seen, request }: PlannedCall): Promise<string | undefined> {
    if (this.announced.has(reference)) return undefined;
    return seen ?? request.message.taskId ?? this.earlier.findTask(reference, this.process.context.signal);
  }

  private callIdentity({ reference, identity }: CalledAgent): CallIdentity {
    const { taskId, token, call } = this.process.context;
    // These members come last, so that nothing overrides them: the journal keeps only the order of each caller's Tasks
    // (ADR 7).
    return { ...identity, scope: call.scope, parent: { taskId, reference, token } };
  }
}
