import { Logger } from '@nestjs/common';
import {
  type AgentExecutor,
  type CallContext,
  endChildrenJob,
  ExecutionInterrupted,
  type LogPlaces,
  type PartKeeper,
  type RequestContext,
  TaskCanceled,
} from '#libs/agents';
import { ContentTooLarge, isActiveState, type Message, statusUpdate, type Task } from '#libs/protocol';
import { withinTime } from '#libs/service';
import {
  ClaimLost,
  endsTurn,
  eventsAfter,
  type LogPlace,
  placeOfEvent,
  PreconditionFailed,
  type PromptLog,
  type RecordedEvent,
  type StoredTask,
  type TaskClaim,
  type TaskEvent,
  type TaskRecording,
} from '#libs/tasks';
import { type AcceptanceLimit, acceptedInTime, type Execution, KeptEvents, LiveEvents } from './execution.js';
import type { ExecutionTrace } from './task-tracing.js';

/** Number of yielded events, not durable yet, at which the executor has to wait. */
const MAX_BACKLOG = 256;
/** Bytes of yielded events that are not durable yet at which the executor has to wait. */
const MAX_BACKLOG_BYTES = 1024 ** 2;

export interface ExecutionStart {
  executor: AgentExecutor;
  recording: TaskRecording;
  call: CallContext;
  userMessage: Message;
  metadata: RequestContext['metadata'];
  acceptedOutputModes?: RequestContext['acceptedOutputModes'];
  /**
   * First turn at the remote agent, for a new Task of a registered agent only. The commit that creates the Task stores
   * this turn as well (see `AgentExecutor.relayedTurn`).
   */
  relayed?: RequestContext['relayed'];
  /** Task before `userMessage`; null if the Message creates the Task. */
  task: Task | null;
  recovered: number;
  traced?: ExecutionTrace;
  /**
   * True to start the executor only when the Task is durable. Set if the Task may still be rejected, by its
   * idempotency key or by the precondition of its agent (`premise`).
   */
  hold?: boolean;
  /** True for an execution that only cancels the Task: its signal is aborted from the start. */
  canceled?: boolean;
  /** Time limit for callers outside this process until their Message is durable. */
  acceptance: AcceptanceLimit;
  /**
   * Log of the Task so far, if it was just read. If absent, the log is read when it is needed. The reference is dropped
   * after its first use, or with the next event, to free the memory.
   */
  log?: readonly TaskEvent[] | undefined;
  /** Waits until all recorded events are durable, and reads at most `limit` events after a sequence. */
  readEvents(after: number, limit: number): Promise<readonly RecordedEvent[]>;
  /** Interrupts this execution if the store shows that it has lost the claim (right to write the Task). */
  confirm(): Promise<void>;
  /** Log of the prompts of models in this Task; absent if prompts are neither stored nor exported. */
  prompts?: PromptLog | undefined;
  /** Storage for large bytes; without it, large bytes stay in the log. */
  keeper?: PartKeeper | undefined;
}

/**
 * Execution of one turn of a Task, from the accepted Message to the terminal or waiting state, or until the Task is
 * parked (released until a time).
 */
export class TaskExecution implements Execution {
  private static readonly logger = new Logger(TaskExecution.name);
  private readonly controller = new AbortController();
  private readonly recording: TaskRecording;
  private readonly files: KeptEvents | undefined;
  readonly begunAs: Execution['begunAs'];
  readonly live: LiveEvents | undefined;
  private acceptance: Execution['accepted'] | undefined;
  private settlement: Promise<Task> | undefined;
  /** True after an event of the executor exceeded a limit of the Task. */
  private isRefused = false;
  /** Resolves when the executor's generator has ended, with or without an error. */
  private ended: Promise<void> = Promise.resolve();
  /** Resolves the promise that `runToEnd` returned. */
  private leave: () => void = () => undefined;

  constructor(private readonly start: ExecutionStart) {
    this.recording = start.recording;
    this.files = start.keeper && new KeptEvents(start.keeper, start.call.scope, this.controller.signal);
    this.begunAs = { task: start.recording.toTask(), sequence: start.recording.lastSequence };
    // A recovered Task, whose `parent` has no token, has no caller here that reads events; they would be kept until its
    // end.
    this.live = start.call.parent?.token === undefined ? undefined : new LiveEvents();
    // A bound function instead of an arrow function: V8 treats functions that are assigned to properties as long-lived
    // (see ShortLivedMap).
    this.recording.onFailure = this.abortWork.bind(this);
    if (start.canceled) this.controller.abort(new TaskCanceled());
  }

  get taskId(): string {
    return this.recording.taskId;
  }

  get contextId(): string {
    return this.recording.contextId;
  }

  get accepted(): Execution['accepted'] {
    this.acceptance ??= this.confirmAcceptance().then(() => this.begunAs);
    return this.acceptance;
  }

  get settled(): Promise<Task> {
    this.settlement ??= this.settleTask();
    return this.settlement;
  }

  get claim(): TaskClaim {
    return { taskId: this.taskId, token: this.recording.token };
  }

  /**
   * True if the store is known to have committed the claim of this execution (its right to write the Task), and no
   * other replica has taken over the Task.
   */
  get holdsClaim(): boolean {
    return this.recording.claims;
  }

  /** True if the Task is parked: it only waits for a time, at which any replica resumes it. */
  get isParked(): boolean {
    const { settled, state } = this.recording;
    return settled && state !== undefined && isActiveState(state);
  }

  /** The Task as stored in its log; `undefined` if another process writes the Task, or events are not durable yet. */
  get standing(): StoredTask | undefined {
    return this.recording.standing;
  }

  get traceId(): string | undefined {
    return this.start.traced?.trace.traceId;
  }

  /** Exports the trace spans of the turn if this execution has ended it. Call it once the end is durable. */
  traceEnd(): void {
    const hasEndedTurn = this.recording.settled && !this.isParked && !this.failure;
    if (hasEndedTurn) this.start.traced?.exportSpans();
  }

  /** Reason why this process can no longer write the Task's events; `undefined` while it can. */
  get failure(): Error | undefined {
    return this.recording.failure;
  }

  /**
   * Reason of a failed write while this replica still holds the claim (right to write the Task): the database rejected
   * an event. `undefined` if no write failed, or the claim is lost.
   */
  get breakage(): Error | undefined {
    return this.failure instanceof ClaimLost ? undefined : this.failure;
  }

  /**
   * Runs the executor. Resolves when this process has no more work to do for the Task; immediately if it can no longer
   * write the Task. Never rejects.
   */
  runToEnd(): Promise<void> {
    return new Promise((resolve) => {
      this.leave = resolve;
      this.ended = this.execute().finally(() => this.stop());
      void this.ended.then(() => this.recording.flushEvents()).then(resolve, () => resolve());
    });
  }

  /**
   * Ends the Task as CANCELED, unless the executor ends it within its `cancelGrace`. Resolves with the Task.
   * @throws ExecutionInterrupted if another replica has the Task, or the Task was parked before the cancel
   */
  async cancelExecution(): Promise<Task> {
    this.controller.abort(new TaskCanceled());
    const { cancelGrace } = this.start.executor;
    if (cancelGrace > 0) await withinTime(this.ended, cancelGrace);
    if (!this.recording.settled) this.recordEvent(this.lastWord(statusUpdate(this.recording, 'TASK_STATE_CANCELED')));
    return this.settled;
  }

  /** Stops working on the Task without ending it. This replica keeps its claim until another adopts the Task. */
  interruptExecution(): void {
    this.recording.abandonTask();
  }

  private stop(): void {
    this.live?.endStream();
    this.files?.endRestorers();
  }

  /** Aborts the executor and its calls, because its events can no longer be recorded. */
  private abortWork(failure: Error): void {
    this.stop();
    this.controller.abort(failure instanceof ClaimLost ? new ExecutionInterrupted(failure.message) : failure);
    this.leave();
  }

  /**
   * Waits until the Message is durable. Calls of runs, here or at other replicas, have no time limit: an unreachable
   * database must not fail a node.
   */
  private confirmAcceptance(): Promise<void> {
    const durable = this.translateClaimLost(this.recording.flushEvents(this.begunAs.sequence));
    const { parent, revisionClaim } = this.start.call;
    return parent || revisionClaim !== undefined ? durable : acceptedInTime(durable, this.start.acceptance);
  }

  private async settleTask(): Promise<Task> {
    await this.translateClaimLost(this.recording.whenSettled());
    if (this.isParked) throw new ExecutionInterrupted(`Task ${this.taskId} is parked`);
    return this.recording.toTask();
  }

  private async translateClaimLost(recorded: Promise<void>): Promise<void> {
    try {
      await recorded;
    } catch (error) {
      if (error instanceof ClaimLost && !(error instanceof PreconditionFailed))
        throw new ExecutionInterrupted(error.message);
      throw error;
    }
  }

  private async execute(): Promise<void> {
    try {
      if (this.start.hold) await this.recording.flushEvents();
      await this.consumeEvents();
      this.endTask('The agent ended without finishing the task.');
    } catch (error) {
      if (this.failure || this.isInterruption(error)) return;
      if (error instanceof ContentTooLarge) return this.endExceeded(error);
      // A canceled executor may throw: the Task ends CANCELED, and the error is not worth a look.
      const level = this.canceled ? 'debug' : 'error';
      TaskExecution.logger[level](
        { err: error, taskId: this.taskId, agent: this.start.call.agent },
        'An execution failed',
      );
      this.endTask('The agent failed to process the message.');
    }
  }

  private async consumeEvents(): Promise<void> {
    const { executor } = this.start;
    const files = executor.keepsBytes ? undefined : this.files;
    for await (const said of executor.execute(this.buildContext())) {
      if (this.recording.settled) return;
      const event = files?.concernsEvent(said) ? await files.keepEvent(said) : said;
      // A cancel may have ended the Task in the meantime.
      if (this.recording.settled) return;
      this.takeEvent(event);
      if (endsTurn(event)) return;
      const { backlog, backlogBytes } = this.recording;
      if (backlog >= MAX_BACKLOG || backlogBytes >= MAX_BACKLOG_BYTES) await this.recording.flushEvents();
    }
  }

  /**
   * Records an event that the executor has yielded.
   * @throws ContentTooLarge; `isRefused` is then true before the executor's generator returns
   */
  private takeEvent(event: TaskEvent): void {
    try {
      this.recordEvent(event);
    } catch (error) {
      this.isRefused = error instanceof ContentTooLarge;
      throw error;
    }
  }

  /** Stops the agent after its output was too large, and ends the Task with a status that names the limit. */
  private endExceeded(limit: ContentTooLarge): void {
    const { agent } = this.start.call;
    TaskExecution.logger.warn({ taskId: this.taskId, agent, limit: limit.message }, 'A task exceeded a limit');
    this.endTask(limit.message);
    this.controller.abort(limit);
  }

  /**
   * Ends the Task, unless the executor has already ended it: as CANCELED after a cancel, else as FAILED.
   * @param sentence reason of the failure, as callers see it
   */
  private endTask(sentence: string): void {
    if (this.recording.settled) return;
    const event = this.canceled
      ? statusUpdate(this.recording, 'TASK_STATE_CANCELED')
      : statusUpdate(this.recording, 'TASK_STATE_FAILED', sentence);
    try {
      this.recordEvent(this.lastWord(event));
    } catch (error) {
      if (!this.isInterruption(error))
        TaskExecution.logger.error({ err: error, taskId: this.taskId }, 'A task could not be ended');
    }
  }

  /** Returns the event that ends the Task. Adds a job that ends the child Tasks if the executor calls agents. */
  private lastWord(end: TaskEvent): TaskEvent {
    return this.start.executor.callsAgents ? { ...end, jobs: [endChildrenJob(this.taskId)] } : end;
  }

  private recordEvent(event: TaskEvent): void {
    const recorded = this.recording.recordEvent(event);
    this.start.log = undefined;
    this.start.traced?.traceEvent(event);
    if (!this.live) return;
    this.live.push(recorded);
    if (this.recording.settled) this.live.endStream();
  }

  /** Returns the log of the Task. Needs no query for a new Task, or if the log was just read. */
  private async readTaskLog(): Promise<readonly TaskEvent[]> {
    const { start, recording } = this;
    if (recording.lastSequence === 1) return [{ task: this.begunAs.task }];
    const { log } = start;
    start.log = undefined;
    if (log?.length === recording.lastSequence) return log;
    return (await start.readEvents(0, recording.lastSequence)).map(({ event }) => event);
  }

  private async lastPlace(): ReturnType<LogPlaces['readLast']> {
    await this.recording.flushEvents();
    const { lastEvent, logBytes } = this.recording;
    return lastEvent && { place: placeOfEvent(lastEvent), bytes: logBytes };
  }

  private eventsAfter(place: LogPlace): ReturnType<LogPlaces['readAfter']> {
    const readAfter = (after: number, limit: number): Promise<readonly RecordedEvent[]> =>
      this.start.readEvents(after, limit);
    return eventsAfter(readAfter, place, this.recording.lastSequence);
  }

  private leaveTask(): never {
    this.interruptExecution();
    throw new ExecutionInterrupted(`Task ${this.taskId} is parked`);
  }

  /** True if a cancel has been started. */
  get canceled(): boolean {
    return this.controller.signal.reason instanceof TaskCanceled;
  }

  private isInterruption(error: unknown): boolean {
    return error instanceof ClaimLost || this.controller.signal.reason instanceof ExecutionInterrupted;
  }

  private buildContext(): RequestContext {
    const { start, recording, files } = this;
    return {
      taskId: recording.taskId,
      contextId: recording.contextId,
      token: recording.token,
      userMessage: start.userMessage,
      task: start.task,
      call: start.call,
      acceptedOutputModes: start.acceptedOutputModes,
      relayed: start.relayed,
      prompts: start.prompts,
      metadata: start.metadata,
      trace: start.traced?.trace,
      signal: this.controller.signal,
      recovered: start.recovered,
      readTaskLog: () => this.readTaskLog(),
      places: {
        readLast: () => this.lastPlace(),
        readAfter: (place) => this.eventsAfter(place),
        nearlyFull: () => recording.nearlyFull,
      },
      assertRecordable: (event) => recording.assertRecordable(event),
      isRefused: () => this.isRefused,
      flush: () => recording.flushEvents(),
      assertClaimHeld: async () => {
        await start.confirm();
        // Report the cancellation only if this replica still owns the Task.
        if (this.failure) throw new ExecutionInterrupted(this.failure.message);
        this.controller.signal.throwIfAborted();
      },
      leaveTask: () => this.leaveTask(),
      ...(files && {
        keepParts: (parts) => files.keepParts(parts),
        partRestorer: () => files.partRestorer(),
        holdParts: (parts) => files.holdParts(parts),
      }),
    };
  }
}
