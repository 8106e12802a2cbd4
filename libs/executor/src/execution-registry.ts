import { Injectable, Logger, Optional } from '@nestjs/common';
import { type CallContext, endChildrenJob, PartKeeper, type ServedAgent } from '#libs/agents';
import { NO_KEY, ReplicaLife, ReplicaSignals, retryWhileDatabaseDown } from '#libs/postgres';
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
import { Metrics, ownTraceId, ShortLivedMap, Shutdown, TraceIds, whenAborted } from '#libs/service';
import {
  type Idempotency,
  type RecordedEvent,
  type TaskClaim,
  TaskFeed,
  TaskPrompts,
  TaskRecorder,
  type TaskRecording,
  TaskStore,
} from '#libs/tasks';
import {
  type Execution,
  journalStalled,
  MessageFiles,
  newHeader,
  newTaskMetadata,
  recordAccepted,
} from './execution.js';
import { IdempotentRequests } from './idempotent-requests.js';
import { keptTrace, TaskTracing } from './task-tracing.js';
import { CANCEL_REQUESTED, TaskCancels } from './task-cancels.js';
import {
  BegunClaims,
  type ClaimedTask,
  claimWaiting,
  explainClaimRefusal,
  type RecoveredTurn,
  type Resumption,
} from './task-claims.js';
import { type ExecutionStart, TaskExecution } from './task-execution.js';

/**
 * Ends a Task as FAILED after the database rejected the content of an event. Events that were written before stay in
 * the log.
 * @param leaving signal that aborts when this process stops
 * @throws the error of the read or write, if the Task cannot be ended
 */
async function endBroken(
  store: TaskStore,
  recorder: TaskRecorder,
  { taskId, token }: TaskRecording,
  leaving: AbortSignal,
): Promise<void> {
  const stored = await retryWhileDatabaseDown(() => store.loadTask(taskId), leaving);
  if (!stored) return;
  const ending = recorder.continueRecording(stored, token);
  const end = statusUpdate(ending, 'TASK_STATE_FAILED', 'The answer of the agent could not be stored.');
  ending.recordEvent({ ...end, jobs: [endChildrenJob(taskId)] });
  await ending.flushEvents();
}

/** Fields of an `ExecutionStart` that the registry does not add itself. */
type UnboundStart = Omit<ExecutionStart, 'executor' | 'acceptance' | 'readEvents' | 'confirm' | 'keeper' | 'prompts'>;

/**
 * Registry of the executions of this process: starts, resumes, recovers and cancels them.
 * - A Task has at most one execution over all processes, because a process claims the Task before it executes it. The
 *   claim is the right to write the Task.
 * - A process that has lost its claim cannot write.
 */
@Injectable()
export class ExecutionRegistry {
  /** Claims (rights to write Tasks) that this process is acquiring; their executions have not begun. */
  readonly begun = new BegunClaims();
  readonly files: MessageFiles;
  private readonly logger = new Logger(ExecutionRegistry.name);
  private readonly executions = new ShortLivedMap<TaskExecution>();
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
    @Optional() private readonly prompts?: TaskPrompts,
  ) {
    this.files = new MessageFiles(keeper, this.leaving.signal);
    this.requests = new IdempotentRequests(store, feed, this);
    this.cancels = new TaskCancels(store, feed, {
      toCancel: async (agent, taskId, call) => this.findExecution(taskId) ?? this.claimForCancel(agent, taskId, call),
      announceCancel: () => this.signals?.sendSignal(CANCEL_REQUESTED, NO_KEY),
      stopping: this.leaving.signal,
    });
    shutdown.registerStep('intake', () => this.startDraining());
    shutdown.registerStep('executions', ({ signal }) => this.stop(signal));
    metrics.gauge('parley_executions', 'Executions under way in this replica', [], () => this.size);
    traces?.lookIn((taskId) => this.traceIdOf(taskId));
  }

  /** Number of running executions. */
  get size(): number {
    return this.executions.size;
  }

  has(taskId: string): boolean {
    return this.executions.has(taskId);
  }

  /** Returns the execution of a Task in this process; `undefined` if there is none or it can no longer write. */
  findExecution(taskId: string): TaskExecution | undefined {
    const execution = this.executions.get(taskId);
    return execution?.failure ? undefined : execution;
  }

  /**
   * Returns the claims (rights to write Tasks) of the running executions. Claims that may not be committed yet are
   * omitted.
   */
  heldClaims(): TaskClaim[] {
    return this.executions
      .values()
      .filter(({ holdsClaim }) => holdsClaim)
      .map(({ claim }) => claim);
  }

  /**
   * Interrupts the execution with this claim (right to write its Task), because another replica has claimed the Task in
   * the meantime.
   */
  onClaimLost({ taskId, token }: TaskClaim): void {
    const execution = this.executions.get(taskId);
    if (!execution?.holdsClaim || execution.claim.token !== token) return;
    this.logger.warn({ taskId }, 'Another replica has taken over a task; its execution here ends');
    execution.interruptExecution();
  }

  /**
   * Creates a Task for the Message and starts its execution, which continues if the caller leaves. If `agent.premise`
   * is present, the commit checks that the agent's revision is still the newest. If it is not, no Task is created, and
   * `accepted` and `settled` reject with PreconditionFailed.
   * @param once idempotency key and fingerprint of the request; absent: the request has no key
   * @throws A2AError with status 503 during shutdown or while the journal (the writer of all events) writes nothing,
   *   with status 413 if the Message is too large
   */
  beginExecution(agent: ServedAgent, request: SendMessageRequest, call: CallContext, once?: Idempotency): Execution {
    this.refuseNewWork(call);
    const header = newHeader(agent, request, call);
    const create = {
      header,
      replicaId: this.replica.replicaId,
      ...(call.parent?.token !== undefined && { parentToken: call.parent.token }),
      ...(once && { idempotency: once }),
      ...(agent.premise && { premise: agent.premise }),
    };
    const recording = this.recorder.createRecording(create, randomId());
    const message = { ...request.message, taskId: header.taskId, contextId: header.contextId };
    const task = submittedTask(recording, message, newTaskMetadata(agent, request, call));
    const relayed = agent.executor.relayedTurn?.(request, call, header);
    recordAccepted(recording, { task, ...(call.jobs && { jobs: call.jobs }), ...(relayed && { relayed }) });
    const { metadata } = request;
    const hold = once !== undefined || (agent.premise !== undefined && !agent.executor.isPure);
    const traced = this.tracing?.traceTurn(agent, {
      task: header,
      metadata: task.metadata,
      began: 1,
      events: [{ task }],
    });
    return this.runExecution(agent, {
      recording,
      call,
      userMessage: message,
      metadata,
      acceptedOutputModes: request.configuration?.acceptedOutputModes,
      relayed,
      task: null,
      recovered: 0,
      hold,
      traced,
    });
  }

  /**
   * Creates a Task under the caller's `Idempotency-Key`. If the request is repeated, on any replica, the same Task is
   * returned (see IdempotentRequests).
   * @param sent request as the caller sent it, if `request` is a changed copy; repetitions are recognized by it
   * @throws A2AError INVALID_PARAMS with reason `IDEMPOTENCY_CONFLICT` and status 409 for a different request under the
   * key
   */
  beginOnce(
    agent: ServedAgent,
    request: SendMessageRequest,
    call: CallContext,
    key: string,
    sent = request,
  ): Promise<Execution> {
    return this.requests.beginOnce(agent, request, call, key, sent);
  }

  /**
   * Records a Message to a waiting Task and executes the next turn. If the Task has a cancel request that was not
   * handled, the Task is canceled instead.
   * @param once idempotency key and fingerprint of the request; absent: the request has no key
   * @param after sequence of the last event that the sender saw: the Message is rejected if the log has later events;
   * absent: no check
   * @throws A2AError TASK_NOT_FOUND; UNSUPPORTED_OPERATION if the Task has ended, is working or has progressed;
   * TASK_BUSY with status 503 if another request or replica holds the Task for long without progress
   */
  async resumeExecution(
    agent: ServedAgent,
    taskId: string,
    request: SendMessageRequest,
    call: CallContext,
    { once, after }: { once?: Idempotency; after?: number } = {},
  ): Promise<Execution> {
    this.refuseNewWork(call);
    const token = randomId();
    const about = {
      agent,
      claim: { taskId, token },
      request: await this.files.keepFiles(request, call),
      call,
      once,
      after,
    };
    const execution = await this.begun.runClaiming(token, () => this.claimAndResume(about));
    return once ? this.acceptedOrReleased(execution) : execution;
  }

  private async claimAndResume({ agent, claim, request, call, once, after }: Resumption): Promise<TaskExecution> {
    const { taskId, token } = claim;
    const stored = await claimWaiting(this.store, claim, this.replica.replicaId, this.leaving.signal);
    if (!stored) throw await explainClaimRefusal(this.store, taskId);
    if (stored.header.cancelRequested) {
      await this.endCanceled({ agent, stored, token, call });
      throw await explainClaimRefusal(this.store, taskId);
    }
    if (after !== undefined && after !== stored.header.lastSequence) {
      await this.giveBack(claim);
      throw await explainClaimRefusal(this.store, taskId);
    }
    const recording = this.recorder.continueRecording(stored, token, { idempotency: once });
    const message = { ...request.message, taskId, contextId: stored.header.contextId };
    const kept = keptTrace({ message }, call);
    const working = statusUpdate(recording, 'TASK_STATE_WORKING', undefined, kept);
    try {
      recordAccepted(recording, { ...working, received: message, ...(call.jobs && { jobs: call.jobs }) });
    } catch (error) {
      await this.giveBack(claim);
      if (error instanceof A2AError) throw error;
      throw new A2AError('UNSUPPORTED_OPERATION', { message: 'The task is being worked on', cause: error });
    }
    const { metadata, configuration } = request;
    const hold = once !== undefined;
    const traced = this.tracing?.traceNextTurn(agent, stored, [working]);
    const turn = { recording, call, userMessage: message, metadata, task: stored.task, recovered: 0, hold, traced };
    return this.runExecution(agent, { ...turn, acceptedOutputModes: configuration?.acceptedOutputModes });
  }

  /**
   * Records a Message to a waiting Task under the caller's `Idempotency-Key`. If the request is repeated, the turn that
   * its first attempt started is returned, even if that turn or the Task has ended.
   * @throws A2AError as `resumeExecution` and `beginOnce` do
   */
  resumeOnce(
    agent: ServedAgent,
    taskId: string,
    request: SendMessageRequest,
    call: CallContext,
    key: string,
  ): Promise<Execution> {
    return this.requests.resumeOnce(agent, taskId, request, call, key);
  }

  /**
   * Returns the execution that an equal request under the key has started; `undefined` if the key is new.
   * @throws A2AError as `beginOnce` does for a different request under the key
   */
  findRepeated(
    agent: ServedAgent,
    request: SendMessageRequest,
    call: CallContext,
    key: string,
  ): Promise<Execution | undefined> {
    return this.requests.findRepeated(agent, request, call, key);
  }

  /**
   * Resumes a turn that another process did not finish, or that was parked (released until a time). The agent's
   * executor must have `recovery: 'restart'`. A Task in a waiting state whose time to resume has come becomes WORKING
   * first.
   * @throws TaskLimitExceeded if the log has no room for that status
   */
  recoverTurn(turn: RecoveredTurn): Execution {
    const waits = isWaitingState(turn.stored.header.state);
    const recording = this.recorder.continueRecording(turn.stored, turn.token, {
      waited: turn.acceptedAt > 1,
      atWork: !waits,
    });
    const log = [...turn.log];
    if (waits) log.push(recording.recordEvent(statusUpdate(recording, 'TASK_STATE_WORKING')).event);
    const { call, userMessage, task } = turn;
    return this.runExecution(turn.agent, {
      ...{ recording, call, userMessage, task, log },
      traced: this.tracing?.traceRestOfTurn(turn.agent, turn.stored, log),
      // The metadata of the request is gone; the Task has kept the part that the executor needs.
      metadata: turn.stored.task.metadata,
      recovered: recording.lastSequence - turn.acceptedAt,
    });
  }

  /**
   * Cancels a Task in any replica. Resolves with the Task once CANCELED is durable.
   *
   * - The cancel request is stored. The replica that executes the Task ends it.
   * - A waiting Task whose executor has something to cancel is executed once more, with an aborted signal.
   * - If another replica adopts the Task in the meantime, this method waits for that replica.
   *
   * @param gone signal that aborts when the caller disconnects, which ends only the wait
   * @throws A2AError TASK_NOT_FOUND; TASK_NOT_CANCELABLE if the Task has ended, also during the cancel; status 503 if
   *   this process stops first, though the cancel request remains stored
   * @throws the reason of `gone`
   */
  cancelAndWait(agent: ServedAgent, taskId: string, call: CallContext, gone?: AbortSignal): Promise<Task> {
    return this.cancels.cancelAndWait(agent, taskId, call, gone);
  }

  /**
   * Cancels a waiting or parked Task that this process has claimed because of a cancel request. Resolves when the Task
   * has ended, or another replica has claimed it.
   */
  endCanceled(claimed: ClaimedTask): Promise<unknown> {
    const execution = this.beginCancel(claimed);
    return execution.cancelExecution().catch(() => undefined);
  }

  /** Cancels the executions of this process whose Tasks have a stored cancel request. */
  async cancelRequested(): Promise<void> {
    if (this.executions.size === 0) return;
    for (const taskId of await this.store.cancelRequests(this.replica.replicaId)) {
      const execution = this.findExecution(taskId);
      if (execution && !execution.canceled) void execution.cancelExecution().catch(() => undefined);
    }
  }

  /** Rejects new work from now on, except in-process calls of running executions. */
  startDraining(): void {
    this.draining = true;
  }

  /**
   * Waits for the running executions until the signal aborts, then interrupts the remaining ones. Other replicas adopt
   * (take over) the Tasks of the interrupted executions.
   */
  async stop(signal: AbortSignal): Promise<void> {
    this.startDraining();
    const running = Promise.allSettled(this.executions.values().map((execution) => execution.settled));
    await Promise.race([running, whenAborted(signal)]);
    this.leaving.abort();
    for (const execution of this.executions.values()) execution.interruptExecution();
  }

  private runExecution(agent: ServedAgent, start: UnboundStart): TaskExecution {
    const execution = this.enterExecution(agent, start);
    void execution.runToEnd().then(() => this.finishExecution(execution, start.recording));
    return execution;
  }

  private enterExecution(agent: ServedAgent, start: UnboundStart): TaskExecution {
    const { recording } = start;
    const readEvents: ExecutionStart['readEvents'] = (after, limit) => this.readEvents(recording, after, limit);
    const confirm = (): Promise<void> => this.confirmClaim(recording);
    const [{ acceptance }, { executor }, { keeper }] = [this.recorder, agent, this.files];
    const isNew = start.task === null && start.recovered === 0;
    const prompts = this.prompts?.openLog(recording.taskId, start.call.scope, isNew);
    const execution = new TaskExecution({ ...start, executor, acceptance, readEvents, confirm, keeper, prompts });
    const stale = this.executions.get(recording.taskId);
    this.executions.set(recording.taskId, execution);
    // Another replica had the Task meanwhile. The comparison of claims no longer sees the replaced execution, so it
    // ends now.
    if (stale?.holdsClaim) stale.interruptExecution();
    return execution;
  }

  private traceIdOf(taskId: string): string | undefined {
    const execution = this.executions.get(taskId);
    return execution && (execution.traceId ?? ownTraceId(taskId));
  }

  private async confirmClaim({ taskId, token }: TaskRecording): Promise<void> {
    const claim = { taskId, token };
    if (!(await retryWhileDatabaseDown(() => this.store.isClaimHeld(claim), this.leaving.signal)))
      this.onClaimLost(claim);
  }

  private async finishExecution(execution: TaskExecution, recording: TaskRecording): Promise<void> {
    if (execution.breakage) await this.failBroken(recording);
    else execution.traceEnd();
    if (this.executions.get(execution.taskId) === execution) this.executions.delete(execution.taskId);
  }

  private async failBroken(recording: TaskRecording): Promise<void> {
    try {
      await endBroken(this.store, this.recorder, recording, this.leaving.signal);
    } catch (error) {
      if (this.leaving.signal.aborted) return;
      this.logger.error({ err: error, taskId: recording.taskId }, 'A task could not be ended; retrying');
    }
  }

  private async readEvents(recording: TaskRecording, after: number, limit: number): Promise<readonly RecordedEvent[]> {
    await recording.flushEvents();
    return retryWhileDatabaseDown(() => this.store.readEvents(recording.taskId, after, limit), this.leaving.signal);
  }

  /**
   * Resolves with the execution when its first event is durable. If the event cannot be stored, this method releases
   * the claim (right to write the Task), unless this process is stopping.
   * @throws the error of `accepted`
   */
  private async acceptedOrReleased(execution: TaskExecution): Promise<Execution> {
    try {
      await execution.accepted;
      return execution;
    } catch (error) {
      if (execution.failure && !this.draining) await this.giveBack(execution.claim);
      throw error;
    }
  }

  /**
   * Releases a claim (right to write a Task) that no execution uses. If that fails, ClaimReconciler finds the claim
   * later.
   */
  private async giveBack(claim: TaskClaim): Promise<void> {
    try {
      await this.store.releaseClaim(claim);
    } catch (error) {
      this.logger.warn({ err: error, taskId: claim.taskId }, 'A claim could not be released; retrying');
    }
  }

  /**
   * Claims a Task (becomes its only writer) and starts its cancel. Returns `undefined` if a replica executes the Task,
   * or the Task has ended.
   */
  private async claimForCancel(
    agent: ServedAgent,
    taskId: string,
    call: CallContext,
  ): Promise<TaskExecution | undefined> {
    const token = randomId();
    return this.begun.runClaiming(token, async () => {
      const stored = await this.store.claimTask(taskId, this.replica.replicaId, token);
      return stored && this.beginCancel({ agent, stored, token, call });
    });
  }

  /** Starts the cancel of a Task that was claimed in order to cancel it. */
  private beginCancel({ agent, stored, token, call }: ClaimedTask): TaskExecution {
    const recording = this.recorder.continueRecording(stored, token);
    const last = stored.task.history?.findLast((message) => message.role === 'ROLE_USER') ?? userMessage('');
    const turn = { recording, call, userMessage: last, metadata: undefined, task: stored.task, recovered: 0 };
    const start = { ...turn, canceled: true, traced: this.tracing?.traceNextTurn(agent, stored, []) };
    if (agent.executor.cancelGrace > 0) return this.runExecution(agent, start);
    // There is nothing to execute, but this counts as an execution until the Task's end is durable.
    const execution = this.enterExecution(agent, start);
    void execution.settled.catch(() => undefined).then(() => this.finishExecution(execution, recording));
    return execution;
  }

  /**
   * Throws if this process must not accept the call now:
   * - While the journal writes nothing (a stall): only calls of runs are accepted, from this process or from other
   *   replicas.
   * - While draining, at shutdown: only in-process calls are accepted.
   * - Once running executions are interrupted: no call is accepted.
   */
  private refuseNewWork({ parent, revisionClaim }: CallContext): void {
    if (!parent && revisionClaim === undefined && this.recorder.isStalled) throw journalStalled();
    if (this.leaving.signal.aborted || (this.draining && !parent))
      throw new A2AError('INTERNAL', { message: 'The service is shutting down', status: 503 });
  }
}
