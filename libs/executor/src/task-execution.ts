import { Logger } from '@nestjs/common';
import {
  ContentTooLarge,
  isActiveState,
  isTerminalState,
  isWaitingState,
  type Message,
  statusUpdate,
  type Task,
  type TaskState,
} from '#libs/protocol';
import {
  ClaimLost,
  eventsAfter,
  type LogPlace,
  parkedUntil,
  placeOfEvent,
  PremiseFailed,
  type RecordedEvent,
  type StoredTask,
  type TaskClaim,
  type TaskEvent,
  type TaskRecording,
} from '#libs/tasks';
import { type AcceptanceLimit, acceptedInTime } from './accepted-in-time.js';
import {
  type AgentExecutor,
  type CallContext,
  type LogPlaces,
  type RequestContext,
  TaskCanceled,
} from './agent-executor.js';
import { endChildrenJob } from './end-children-job.js';
import { type Execution, ExecutionInterrupted, LiveEvents } from './execution.js';
import { KeptEvents } from './kept-events.js';
import type { PartKeeper } from './part-keeper.js';
import type { ExecutionTrace } from './spans/task-tracing.js';

/** What an executor may yield before the journal has caught up; then it waits. */
const MAX_BACKLOG = 256;
const MAX_BACKLOG_BYTES = 1024 ** 2;

export interface ExecutionStart {
  executor: AgentExecutor;
  recording: TaskRecording;
  call: CallContext;
  userMessage: Message;
  metadata: RequestContext['metadata'];
  /** The Task before `userMessage`. */
  task: Task | null;
  recovered: number;
  traced?: ExecutionTrace;
  /** The executor starts only when the Task is durable: it may be that it is not made (its key, its premise). */
  hold?: boolean;
  /** Executed only to cancel: the signal is aborted from the start. */
  canceled?: boolean;
  /** Time that a caller outside this process waits until its Message is durable. */
  acceptance: AcceptanceLimit;
  /** The log so far, where it was just read: it is kept until it is asked for, or the next event. */
  log?: readonly TaskEvent[] | undefined;
  /** Reads at most `limit` events after a sequence, when all that was recorded is durable. */
  readEvents(after: number, limit: number): Promise<readonly RecordedEvent[]>;
  /** Asks the store whether the Task is still this execution's, and interrupts it where it is not. */
  confirm(): Promise<void>;
  /** Absent: large bytes stay in the log. */
  keeper?: PartKeeper | undefined;
}

/** One turn of an executor on one Task, from the accepted Message to the terminal or waiting state, or until it is parked. */
export class TaskExecution implements Execution {
  private static readonly logger = new Logger(TaskExecution.name);
  private readonly controller = new AbortController();
  private readonly recording: TaskRecording;
  private readonly files: KeptEvents | undefined;
  readonly begunAs: Execution['begunAs'];
  readonly live: LiveEvents | undefined;
  private acceptance: Execution['accepted'] | undefined;
  private settlement: Promise<Task> | undefined;
  /** True once an event of the executor was too large for the Task. */
  private isRefused = false;
  /** Resolves when the executor's generator has ended, whatever came of it. */
  private ended: Promise<void> = Promise.resolve();
  /** Resolves `run`. */
  private leave: () => void = () => undefined;

  constructor(private readonly start: ExecutionStart) {
    this.recording = start.recording;
    this.files = start.keeper && new KeptEvents(start.keeper, start.call.scope, this.controller.signal);
    this.begunAs = { task: start.recording.task(), sequence: start.recording.lastSequence };
    // A Task that is resumed has no caller here that reads them: they would be kept until its end.
    this.live = start.call.parent?.token === undefined ? undefined : new LiveEvents();
    // Bound, and no function of its own here: V8 takes those that are assigned to properties for long-lived (see PassingMap).
    this.recording.onFailure = this.giveUp.bind(this);
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
    this.settlement ??= this.settle();
    return this.settlement;
  }

  get claim(): TaskClaim {
    return { taskId: this.taskId, token: this.recording.token };
  }

  /** Whether the store has this claim for certain, unless another replica took it. */
  get holdsClaim(): boolean {
    return this.recording.claims;
  }

  /** Whether the Task was left to nobody until its time: it goes on elsewhere. */
  get isParked(): boolean {
    const { settled, state } = this.recording;
    return settled && state !== undefined && isActiveState(state);
  }

  /** The Task as it stands in its log, where this process writes it and has nothing to add. */
  get standing(): StoredTask | undefined {
    return this.recording.standing;
  }

  get traceId(): string | undefined {
    return this.start.traced?.trace.traceId;
  }

  /** Has the spans of the turn made, where this execution has ended it. To be called when that is durable. */
  traceEnd(): void {
    if (this.start.traced && this.recording.settled && !this.isParked && !this.failure) this.start.traced.end();
  }

  /** Why the Task's events can no longer be written here. */
  get failure(): Error | undefined {
    return this.recording.failure;
  }

  /** The same, where the claim is ours all the same; `undefined` in all other cases. */
  get breakage(): Error | undefined {
    return this.failure instanceof ClaimLost ? undefined : this.failure;
  }

  /**
   * Starts the executor. Resolves when this process has nothing more to do for the Task, at once where it cannot write
   * it any more; never rejects.
   */
  run(): Promise<void> {
    return new Promise((resolve) => {
      this.leave = resolve;
      this.ended = this.execute().finally(() => this.stop());
      void this.ended.then(() => this.recording.flush()).then(resolve, () => resolve());
    });
  }

  /**
   * Ends the Task as CANCELED, after the executor had its `cancelGrace` to end it itself.
   * @throws ExecutionInterrupted if another replica has the Task, or it was parked before
   */
  async cancel(): Promise<Task> {
    this.controller.abort(new TaskCanceled());
    const { cancelGrace } = this.start.executor;
    if (cancelGrace > 0) await Promise.race([this.ended, elapsed(cancelGrace)]);
    if (!this.recording.settled) this.record(this.lastWord(statusUpdate(this.recording, 'TASK_STATE_CANCELED')));
    return this.settled;
  }

  /** Stops working on the Task without ending it: it stays claimed by this replica until another adopts it. */
  interrupt(): void {
    this.recording.abandon();
  }

  private stop(): void {
    this.live?.end();
    this.files?.end();
  }

  /** Nothing that the executor still does can be told: it is stopped at once, and a call of its own with it. */
  private giveUp(failure: Error): void {
    this.stop();
    this.controller.abort(failure instanceof ClaimLost ? new ExecutionInterrupted(failure.message) : failure);
    this.leave();
  }

  /** A run of this service waits as long as it takes, here and elsewhere: a database that is away fails no node. */
  private confirmAcceptance(): Promise<void> {
    const durable = this.durable(this.recording.flush(this.begunAs.sequence));
    const { parent, revisionClaim } = this.start.call;
    return parent || revisionClaim !== undefined ? durable : acceptedInTime(durable, this.start.acceptance);
  }

  private async settle(): Promise<Task> {
    await this.durable(this.recording.whenSettled());
    if (this.isParked) throw new ExecutionInterrupted(`Task ${this.taskId} is parked`);
    return this.recording.task();
  }

  private async durable(recorded: Promise<void>): Promise<void> {
    try {
      await recorded;
    } catch (error) {
      if (error instanceof ClaimLost && !(error instanceof PremiseFailed))
        throw new ExecutionInterrupted(error.message);
      throw error;
    }
  }

  private async execute(): Promise<void> {
    try {
      if (this.start.hold) await this.recording.flush();
      await this.consume();
      this.end('The agent ended without finishing the task.');
    } catch (error) {
      if (this.failure || this.interrupted(error)) return;
      if (error instanceof ContentTooLarge) return this.exceeded(error);
      // An executor that is canceled may well throw: its end is CANCELED, and nothing to look into.
      const level = this.canceled ? 'debug' : 'error';
      TaskExecution.logger[level](
        { err: error, taskId: this.taskId, agent: this.start.call.agent },
        'An execution failed',
      );
      this.end('The agent failed to process the message.');
    }
  }

  private async consume(): Promise<void> {
    const { executor } = this.start;
    const files = executor.keepsBytes ? undefined : this.files;
    for await (const said of executor.execute(this.context())) {
      if (this.recording.settled) return;
      const event = files?.concerns(said) ? await files.keep(said) : said;
      // A cancel may have ended the Task meanwhile.
      if (this.recording.settled) return;
      this.take(event);
      if (endsTurn(event)) return;
      const { backlog, backlogBytes } = this.recording;
      if (backlog >= MAX_BACKLOG || backlogBytes >= MAX_BACKLOG_BYTES) await this.recording.flush();
    }
  }

  /** @throws ContentTooLarge, of which the executor learns as it is returned from */
  private take(event: TaskEvent): void {
    try {
      this.record(event);
    } catch (error) {
      this.isRefused = error instanceof ContentTooLarge;
      throw error;
    }
  }

  /** What the agent made of the Task is too large: the agent is stopped, and its caller is told which limit that was. */
  private exceeded(limit: ContentTooLarge): void {
    const { agent } = this.start.call;
    TaskExecution.logger.warn({ taskId: this.taskId, agent, limit: limit.message }, 'A task exceeded a limit');
    this.end(limit.message);
    this.controller.abort(limit);
  }

  /** The last word, where the executor did not have it. */
  private end(sentence: string): void {
    if (this.recording.settled) return;
    const event = this.canceled
      ? statusUpdate(this.recording, 'TASK_STATE_CANCELED')
      : statusUpdate(this.recording, 'TASK_STATE_FAILED', sentence);
    try {
      this.record(this.lastWord(event));
    } catch (error) {
      if (!this.interrupted(error))
        TaskExecution.logger.error({ err: error, taskId: this.taskId }, 'A task could not be ended');
    }
  }

  /** An end that is not the executor's word, with which what the Task called for ends as well. */
  private lastWord(end: TaskEvent): TaskEvent {
    return this.start.executor.callsAgents ? { ...end, jobs: [endChildrenJob(this.taskId)] } : end;
  }

  private record(event: TaskEvent): void {
    const recorded = this.recording.record(event);
    this.start.log = undefined;
    this.start.traced?.take(event);
    if (!this.live) return;
    this.live.push(recorded);
    if (this.recording.settled) this.live.end();
  }

  /** A Task that has only begun needs no reading, nor one that was read to be taken up. */
  private async log(): Promise<readonly TaskEvent[]> {
    const { start, recording } = this;
    if (recording.lastSequence === 1) return [{ task: this.begunAs.task }];
    const { log } = start;
    start.log = undefined;
    if (log?.length === recording.lastSequence) return log;
    return (await start.readEvents(0, recording.lastSequence)).map(({ event }) => event);
  }

  private async lastPlace(): ReturnType<LogPlaces['last']> {
    await this.recording.flush();
    const { lastEvent, logBytes } = this.recording;
    return lastEvent && { place: placeOfEvent(lastEvent), bytes: logBytes };
  }

  private eventsAfter(place: LogPlace): ReturnType<LogPlaces['after']> {
    const read = (after: number, limit: number): Promise<readonly RecordedEvent[]> =>
      this.start.readEvents(after, limit);
    return eventsAfter(read, place, this.recording.lastSequence);
  }

  /** Whether a cancel is under way, or was. */
  get canceled(): boolean {
    return this.controller.signal.reason instanceof TaskCanceled;
  }

  private interrupted(error: unknown): boolean {
    return error instanceof ClaimLost || this.controller.signal.reason instanceof ExecutionInterrupted;
  }

  private context(): RequestContext {
    const { start, recording, files } = this;
    return {
      taskId: recording.taskId,
      contextId: recording.contextId,
      token: recording.token,
      userMessage: start.userMessage,
      task: start.task,
      call: start.call,
      metadata: start.metadata,
      trace: start.traced?.trace,
      signal: this.controller.signal,
      recovered: start.recovered,
      log: () => this.log(),
      places: {
        last: () => this.lastPlace(),
        after: (place) => this.eventsAfter(place),
        nearlyFull: () => recording.nearlyFull,
      },
      admit: (event) => recording.admit(event),
      isRefused: () => this.isRefused,
      flush: () => recording.flush(),
      prove: async () => {
        await start.confirm();
        // Whoever is canceled is told so only where the Task is his to end.
        if (this.failure) throw new ExecutionInterrupted(this.failure.message);
        this.controller.signal.throwIfAborted();
      },
      ...(files && {
        keepParts: (parts) => files.keepParts(parts),
        partRestorer: () => files.partRestorer(),
        holdParts: (parts) => files.holdParts(parts),
      }),
    };
  }
}

/** Whether an event leaves nothing to do here until the Task is gone on with: it has ended, waits, or is parked. */
export function endsTurn(event: TaskEvent): boolean {
  if (!('statusUpdate' in event)) return false;
  const state: TaskState = event.statusUpdate.status.state;
  return isTerminalState(state) || isWaitingState(state) || parkedUntil(event) !== undefined;
}

function elapsed(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds).unref();
  });
}
