import { Injectable, Logger, Optional } from '@nestjs/common';
import { NO_KEY, ReplicaLife, ReplicaSignals, throughOutage } from '#libs/postgres';
import {
  A2AError,
  isWaitingState,
  randomId,
  type SendMessageRequest,
  statusUpdate,
  submittedTask,
  type Task,
  userMessage,
} from '#libs/protocol';
import { Metrics, ownTraceId, PassingMap, Shutdown, TraceIds } from '#libs/service';
import {
  type Idempotency,
  type RecordedEvent,
  type TaskClaim,
  TaskFeed,
  TaskRecorder,
  type TaskRecording,
  TaskStore,
} from '#libs/tasks';
import { journalStalled } from './accepted-in-time.js';
import type { ServedAgent } from './agent-catalog.js';
import type { CallContext } from './agent-executor.js';
import { BegunClaims } from './begun-claims.js';
import { endBroken } from './broken-task.js';
import type { ClaimedTask, RecoveredTurn, Resumption } from './claimed-task.js';
import type { Execution } from './execution.js';
import { IdempotentRequests } from './idempotent-requests.js';
import { MessageFiles } from './message-files.js';
import { accept, newHeader, taskMetadata } from './new-task.js';
import { PartKeeper } from './part-keeper.js';
import { keptTrace } from './spans/kept-trace.js';
import { TaskTracing } from './spans/task-tracing.js';
import { CANCEL_REQUESTED, TaskCancels } from './task-cancels.js';
import { type ExecutionStart, TaskExecution } from './task-execution.js';
import { claimWaiting, refusal } from './waiting-claim.js';

/** What the registry does not add by itself. */
type UnboundStart = Omit<ExecutionStart, 'executor' | 'acceptance' | 'readEvents' | 'confirm' | 'keeper'>;

/**
 * The executions of this process. Promises one execution per Task, in any process: a Task is claimed before it is
 * executed, and whoever lost the claim can no longer write.
 */
@Injectable()
export class ExecutionRegistry {
  /** The claims of Tasks that are being taken. */
  readonly begun = new BegunClaims();
  readonly files: MessageFiles;
  private readonly logger = new Logger(ExecutionRegistry.name);
  private readonly executions = new PassingMap<TaskExecution>();
  private readonly requests: IdempotentRequests;
  private readonly cancels: TaskCancels;
  private readonly leaving = new AbortController();
  private draining = false;

  constructor(
    private readonly store: TaskStore,
    private readonly recorder: TaskRecorder,
    feed: TaskFeed,
    private readonly replica: ReplicaLife,
    shutdown: Shutdown,
    metrics: Metrics,
    @Optional() private readonly signals?: ReplicaSignals,
    @Optional() private readonly tracing?: TaskTracing,
    @Optional() traces?: TraceIds,
    @Optional() keeper?: PartKeeper,
  ) {
    this.files = new MessageFiles(keeper, this.leaving.signal);
    this.requests = new IdempotentRequests(store, feed, this);
    this.cancels = new TaskCancels(store, feed, {
      toCancel: async (agent, taskId, call) => this.executing(taskId) ?? this.claimForCancel(agent, taskId, call),
      announceCancel: () => this.signals?.send(CANCEL_REQUESTED, NO_KEY),
      stopping: this.leaving.signal,
    });
    shutdown.register('intake', () => this.drain());
    shutdown.register('executions', ({ signal }) => this.stop(signal));
    metrics.gauge('parley_executions', 'Executions under way in this replica', [], () => this.size);
    traces?.lookIn((taskId) => this.traceIdOf(taskId));
  }

  /** How many executions are under way. */
  get size(): number {
    return this.executions.size;
  }

  has(taskId: string): boolean {
    return this.executions.has(taskId);
  }

  /** The execution of a Task in this process, unless it can no longer write. */
  executing(taskId: string): TaskExecution | undefined {
    const execution = this.executions.get(taskId);
    return execution?.failure ? undefined : execution;
  }

  /** The claims of the executions under way, as far as the store knows of them. */
  claims(): TaskClaim[] {
    return this.executions
      .values()
      .filter(({ holdsClaim }) => holdsClaim)
      .map(({ claim }) => claim);
  }

  /** Ends an execution whose claim is another replica's by now, unless it has ended meanwhile. */
  lose({ taskId, token }: TaskClaim): void {
    const execution = this.executions.get(taskId);
    if (!execution?.holdsClaim || execution.claim.token !== token) return;
    this.logger.warn({ taskId }, 'Another replica has taken a task over: its execution here ends');
    execution.interrupt();
  }

  /**
   * Makes a Task for the Message and starts its execution, detached from the caller.
   * Where the agent's premise does not hold, no Task is made: `accepted` and `settled` reject with PremiseFailed.
   * @throws A2AError with status 503 while the process shuts down or its journal stands still, with status 413 where the
   * Message is too large
   */
  begin(agent: ServedAgent, request: SendMessageRequest, call: CallContext, once?: Idempotency): Execution {
    this.refuseNewWork(call);
    const header = newHeader(agent, request, call);
    const create = {
      header,
      replicaId: this.replica.replicaId,
      ...(call.parent?.token !== undefined && { parentToken: call.parent.token }),
      ...(once && { idempotency: once }),
      ...(agent.premise && { premise: agent.premise }),
    };
    const recording = this.recorder.create(create, randomId());
    const message = { ...request.message, taskId: header.taskId, contextId: header.contextId };
    const task = submittedTask(recording, message, taskMetadata(agent, request, call));
    accept(recording, { task, ...(call.jobs && { jobs: call.jobs }) });
    const { metadata } = request;
    const hold = once !== undefined || (agent.premise !== undefined && !agent.executor.isPure);
    const traced = this.tracing?.begin(agent, { task: header, metadata: task.metadata, began: 1, events: [{ task }] });
    return this.run(agent, { recording, call, userMessage: message, metadata, task: null, recovered: 0, hold, traced });
  }

  /**
   * The same under the caller's `Idempotency-Key`, while the first request runs and ever after: the same request gives
   * the same Task, in whichever replica it was made (see IdempotentRequests).
   * @param sent what tells the request from others, where something was made of it before it came here
   * @throws A2AError INVALID_PARAMS with reason `IDEMPOTENCY_CONFLICT` and status 409 for another request under the key
   */
  beginOnce(
    agent: ServedAgent,
    request: SendMessageRequest,
    call: CallContext,
    key: string,
    sent = request,
  ): Promise<Execution> {
    return this.requests.begin(agent, request, call, key, sent);
  }

  /**
   * Records a follow-up Message to a waiting Task and executes the next turn. Where somebody wished to cancel the Task,
   * and died, it is canceled now and takes none.
   * @param after where the log ends that the Message answers to; it may answer to nothing else
   * @throws A2AError TASK_NOT_FOUND; UNSUPPORTED_OPERATION where the Task has ended, is being worked on or has gone on;
   * TASK_BUSY with status 503 where another claim holds it and does nothing
   */
  async resume(
    agent: ServedAgent,
    taskId: string,
    request: SendMessageRequest,
    call: CallContext,
    { once, after }: { once?: Idempotency; after?: number } = {},
  ): Promise<Execution> {
    this.refuseNewWork(call);
    const token = randomId();
    const about = { agent, claim: { taskId, token }, request: await this.files.keep(request, call), call, once, after };
    const execution = await this.begun.during(token, () => this.claimAndResume(about));
    return once ? this.acceptedOrReleased(execution) : execution;
  }

  private async claimAndResume({ agent, claim, request, call, once, after }: Resumption): Promise<TaskExecution> {
    const { taskId, token } = claim;
    const stored = await claimWaiting(this.store, claim, this.replica.replicaId, this.leaving.signal);
    if (!stored) throw await refusal(this.store, taskId);
    if (stored.header.cancelRequested) {
      await this.endCanceled({ agent, stored, token, call });
      throw await refusal(this.store, taskId);
    }
    if (after !== undefined && after !== stored.header.lastSequence) {
      await this.giveBack(claim);
      throw await refusal(this.store, taskId);
    }
    const recording = this.recorder.continue(stored, token, { idempotency: once });
    const message = { ...request.message, taskId, contextId: stored.header.contextId };
    const kept = keptTrace({ message }, call);
    const working = statusUpdate(recording, 'TASK_STATE_WORKING', undefined, kept);
    try {
      accept(recording, { ...working, received: message, ...(call.jobs && { jobs: call.jobs }) });
    } catch (error) {
      await this.giveBack(claim);
      if (error instanceof A2AError) throw error;
      throw new A2AError('UNSUPPORTED_OPERATION', { message: 'The task is being worked on', cause: error });
    }
    const { metadata } = request;
    const hold = once !== undefined;
    const traced = this.tracing?.next(agent, stored, [working]);
    const turn = { recording, call, userMessage: message, metadata, task: stored.task, recovered: 0, hold, traced };
    return this.run(agent, turn);
  }

  /**
   * The same under the caller's `Idempotency-Key`: the same request gives the turn that it began, also when that has
   * ended, and the Task with it.
   * @throws A2AError as `resume` and `beginOnce` do
   */
  resumeOnce(
    agent: ServedAgent,
    taskId: string,
    request: SendMessageRequest,
    call: CallContext,
    key: string,
  ): Promise<Execution> {
    return this.requests.resume(agent, taskId, request, call, key);
  }

  /**
   * What the same request under the key began, whatever would be said of it now; `undefined` for a new key.
   * @throws A2AError as `beginOnce` does for another request under the key
   */
  known(
    agent: ServedAgent,
    request: SendMessageRequest,
    call: CallContext,
    key: string,
  ): Promise<Execution | undefined> {
    return this.requests.known(agent, request, call, key);
  }

  /**
   * Goes on with a turn that a process did not finish, or that was parked. The executor must be restartable. It finds the
   * Task at work, also one that asks something and is due all the same: a full log refuses that (TaskLimitExceeded).
   */
  recover(turn: RecoveredTurn): Execution {
    const waits = isWaitingState(turn.stored.header.state);
    const recording = this.recorder.continue(turn.stored, turn.token, { waited: turn.acceptedAt > 1, atWork: !waits });
    const log = [...turn.log];
    if (waits) log.push(recording.record(statusUpdate(recording, 'TASK_STATE_WORKING')).event);
    const { call, userMessage, task } = turn;
    return this.run(turn.agent, {
      ...{ recording, call, userMessage, task, log },
      traced: this.tracing?.rest(turn.agent, turn.stored, log),
      // The request's own is gone; the Task kept what its agent found worth keeping.
      metadata: turn.stored.task.metadata,
      recovered: recording.lastSequence - turn.acceptedAt,
    });
  }

  /**
   * Cancels a Task, wherever it stands: the wish is stored, then the replica that executes the Task ends it, and this
   * resolves with the Task once CANCELED is durable. A waiting Task whose executor has something to cancel is executed
   * once more, with a signal that is already aborted. A Task that changes hands meanwhile is waited for as well.
   * @throws A2AError TASK_NOT_FOUND, TASK_NOT_CANCELABLE where it has ended (also while it was being canceled); with
   * status 503 where this process stops before that is known: the wish stays; the reason of `gone`
   */
  cancel(agent: ServedAgent, taskId: string, call: CallContext, gone?: AbortSignal): Promise<Task> {
    return this.cancels.cancel(agent, taskId, call, gone);
  }

  /**
   * Cancels a Task that waited or was parked, and is claimed now because somebody wished so: with this process as the one
   * who wishes. Resolves when that has ended it, or another replica has it.
   */
  endCanceled(claimed: ClaimedTask): Promise<unknown> {
    const execution = this.beginCancel(claimed);
    return execution.cancel().catch(() => undefined);
  }

  /** Ends the executions of this process that somebody wishes to cancel, be it at another replica. */
  async cancelRequested(): Promise<void> {
    if (this.executions.size === 0) return;
    for (const taskId of await this.store.cancelRequests(this.replica.replicaId)) {
      const execution = this.executing(taskId);
      if (execution && !execution.canceled) void execution.cancel().catch(() => undefined);
    }
  }

  /** Refuses new work from now on; what an execution under way calls for in this process is not new. */
  drain(): void {
    this.draining = true;
  }

  /** Waits for the executions under way until the signal, then leaves the rest to whoever adopts them. */
  async stop(signal: AbortSignal): Promise<void> {
    this.drain();
    const running = Promise.allSettled(this.executions.values().map((execution) => execution.settled));
    const late = new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    if (!signal.aborted) await Promise.race([running, late]);
    this.leaving.abort();
    for (const execution of this.executions.values()) execution.interrupt();
  }

  private run(agent: ServedAgent, start: UnboundStart): TaskExecution {
    const execution = this.enter(agent, start);
    void execution.run().then(() => this.finish(execution, start.recording));
    return execution;
  }

  private enter(agent: ServedAgent, start: UnboundStart): TaskExecution {
    const { recording } = start;
    const readEvents: ExecutionStart['readEvents'] = (after, limit) => this.readEvents(recording, after, limit);
    const confirm = (): Promise<void> => this.confirm(recording);
    const [{ acceptance }, { executor }, { keeper }] = [this.recorder, agent, this.files];
    const execution = new TaskExecution({ ...start, executor, acceptance, readEvents, confirm, keeper });
    const stale = this.executions.get(recording.taskId);
    this.executions.set(recording.taskId, execution);
    // Another replica had the Task meanwhile. Nobody would look for the one that does not know.
    if (stale?.holdsClaim) stale.interrupt();
    return execution;
  }

  private traceIdOf(taskId: string): string | undefined {
    const execution = this.executions.get(taskId);
    return execution && (execution.traceId ?? ownTraceId(taskId));
  }

  private async confirm({ taskId, token }: TaskRecording): Promise<void> {
    const claim = { taskId, token };
    if (!(await throughOutage(() => this.store.holds(claim), this.leaving.signal))) this.lose(claim);
  }

  private async finish(execution: TaskExecution, recording: TaskRecording): Promise<void> {
    if (execution.breakage) await this.failBroken(recording);
    else execution.traceEnd();
    if (this.executions.get(execution.taskId) === execution) this.executions.delete(execution.taskId);
  }

  private async failBroken(recording: TaskRecording): Promise<void> {
    try {
      await endBroken(this.store, this.recorder, recording, this.leaving.signal);
    } catch (error) {
      if (this.leaving.signal.aborted) return;
      this.logger.error({ err: error, taskId: recording.taskId }, 'A task could not be ended; it is tried again');
    }
  }

  private async readEvents(recording: TaskRecording, after: number, limit: number): Promise<readonly RecordedEvent[]> {
    await recording.flush();
    return throughOutage(() => this.store.events(recording.taskId, after, limit), this.leaving.signal);
  }

  /** Gives the claim back of a first event that was refused, not that may be written, unless this process leaves. */
  private async acceptedOrReleased(execution: TaskExecution): Promise<Execution> {
    try {
      await execution.accepted;
      return execution;
    } catch (error) {
      if (execution.failure && !this.draining) await this.giveBack(execution.claim);
      throw error;
    }
  }

  /** A claim that was taken in vain. Where this fails, OwnClaims finds it. */
  private async giveBack(claim: TaskClaim): Promise<void> {
    try {
      await this.store.release(claim);
    } catch (error) {
      this.logger.warn({ err: error, taskId: claim.taskId }, 'A claim could not be given back; it is tried again');
    }
  }

  /** `undefined` where the Task is executed, or has ended. */
  private async claimForCancel(
    agent: ServedAgent,
    taskId: string,
    call: CallContext,
  ): Promise<TaskExecution | undefined> {
    const token = randomId();
    return this.begun.during(token, async () => {
      const stored = await this.store.claim(taskId, this.replica.replicaId, token);
      return stored && this.beginCancel({ agent, stored, token, call });
    });
  }

  /** Of a Task that was claimed for it. */
  private beginCancel({ agent, stored, token, call }: ClaimedTask): TaskExecution {
    const recording = this.recorder.continue(stored, token);
    const last = stored.task.history?.findLast((message) => message.role === 'ROLE_USER') ?? userMessage('');
    const turn = { recording, call, userMessage: last, metadata: undefined, task: stored.task, recovered: 0 };
    const start = { ...turn, canceled: true, traced: this.tracing?.next(agent, stored, []) };
    if (agent.executor.cancelGrace > 0) return this.run(agent, start);
    // It has nothing to execute, and is an execution until its end is durable all the same.
    const execution = this.enter(agent, start);
    void execution.settled.catch(() => undefined).then(() => this.finish(execution, recording));
    return execution;
  }

  /** What an execution of this process calls for is no new work: it lets the execution end within the grace time. */
  private refuseNewWork({ parent, revisionClaim }: CallContext): void {
    if (!parent && revisionClaim === undefined && this.recorder.isStalled) throw journalStalled();
    if (this.leaving.signal.aborted || (this.draining && !parent))
      throw new A2AError('INTERNAL', { message: 'The service is shutting down', status: 503 });
  }
}
