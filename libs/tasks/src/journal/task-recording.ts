import { Injectable, Logger, Optional } from '@nestjs/common';
import type { Job } from '#libs/jobs';
import { dateOfTimestamp, isActiveState, isTerminalState, type Task, type TaskState } from '#libs/protocol';
import { AppConfig, InFlight } from '#libs/service';
import { TaskFeed } from '../feed/task-feed.js';
import { modelCallsIn } from '../fold/reported-model-call.js';
import {
  endsTurn,
  filesNamedIn,
  parkedUntil,
  promptLineOf,
  type RecordedEvent,
  type RemoteIds,
  type TaskEvent,
  type TaskQuestion,
  wakeJob,
} from '../fold/task-event.js';
import {
  eventBytes,
  isWorthSnapshot,
  LogSize,
  promptBytes,
  RecordedBytes,
  snapshotBytes,
  TaskEventRefused,
  TaskFold,
  type TaskLimits,
  type TaskSnapshot,
  toSnapshot,
} from '../fold/task-fold.js';
import {
  ClaimLost,
  type Idempotency,
  type JournalEntry,
  type JournalOutcome,
  PreconditionFailed,
  type StoredTask,
  type TaskHeader,
} from '../store/task-store.js';
import { TaskFacts, TaskMetrics } from '../task-metrics.js';
import { type EventText, EventTexts } from './log-row.js';
import { type JournalSource, TaskJournal, type WaitingEvent } from './task-journal.js';

interface RecordingStart {
  header: TaskHeader;
  token: string;
  create?: NonNullable<JournalEntry['create']>;
  keyed?: NonNullable<JournalEntry['keyed']>;
  fold?: TaskFold;
  /** Bytes of the log so far; 0 if unknown. */
  bytes?: number;
  /** True if the Task is at work: this process alone writes it until this recording ends or fails. */
  atWork?: boolean;
  /**
   * True if the Task has waited before and another process resumed it. It is then unknown if the Task was parked
   * (waited only for a time).
   */
  waited?: boolean;
}

/** Services that a TaskRecording uses. */
interface RecordingServices {
  journal: TaskJournal;
  feed: TaskFeed;
  inFlight: InFlight;
  limits: TaskLimits;
  facts?: TaskFacts;
  /** Called when the log passes three quarters of TASK_LIMIT, with the Task's header and the bytes of the log. */
  nearlyFull?: (header: TaskHeader, bytes: number) => void;
}

interface Waiter {
  sequence: number;
  resolve(): void;
  reject(reason: unknown): void;
}

/**
 * Records the events of one claim in a Task's log, from the claim until the Task ends, waits or is parked. A claim is
 * the exclusive right to write the Task. Events get their sequence immediately and become durable with a later batch,
 * in order. Readers see only durable events.
 */
export class TaskRecording implements JournalSource {
  readonly taskId: string;
  readonly contextId: string;
  readonly token: string;
  readonly account: string;
  /** Called once with the `failure`, when this recording can record nothing more. */
  onFailure: ((failure: Error) => void) | undefined;
  private readonly header: TaskHeader;
  private create: JournalEntry['create'];
  private keyed: JournalEntry['keyed'];
  private fold: TaskFold | undefined;
  private pending: RecordedEvent[] = [];
  /** Number (`mark`) and bytes of each pending event (see WaitingEvent). */
  private marks: WaitingEvent[] = [];
  private sequence: number;
  private durable: number;
  /** Status of the Task after the events that were handed to the journal. */
  private drained: { state: TaskState; updatedAt: Date };
  private broken: Error | undefined;
  private isParked = false;
  private readonly waited: boolean;
  private waiters: Waiter[] = [];
  private readonly memory: RecordedBytes;
  private readonly size: LogSize;
  private readonly texts: EventTexts;
  private snapshot: TaskSnapshot | undefined;
  private last: RecordedEvent | undefined;
  /**
   * Last event that `assertRecordable` checked, and its text, so that `recordEvent` need not serialize it again;
   * `undefined` before the first check.
   */
  private admitted: { event: TaskEvent; text: EventText } | undefined;

  constructor(
    private readonly services: RecordingServices,
    start: RecordingStart,
  ) {
    this.memory = new RecordedBytes(services.inFlight, start.header);
    this.size = new LogSize(services.limits, start.bytes ?? 0);
    this.header = start.header;
    this.taskId = start.header.taskId;
    this.contextId = start.header.contextId;
    this.account = `${start.header.tenant}\0${start.header.owner}`;
    this.texts = new EventTexts(start.header);
    this.token = start.token;
    this.create = start.create;
    this.keyed = start.keyed;
    this.fold = start.fold;
    this.waited = start.waited ?? false;
    this.sequence = start.create ? 0 : start.header.lastSequence;
    this.durable = this.sequence;
    this.drained = { state: start.header.state, updatedAt: start.header.updatedAt };
    if (start.atWork) services.feed.openTask(this.taskId, this.sequence);
  }

  get lastSequence(): number {
    return this.sequence;
  }

  /** Last event of this recording; `undefined` if it has recorded none. */
  get lastEvent(): RecordedEvent | undefined {
    return this.last;
  }

  /** Bytes of the log and their limit, once the log has passed three quarters of the limit; `undefined` before. */
  get nearlyFull(): { bytes: number; limit: number } | undefined {
    return this.size.isNearlyFull ? { bytes: this.size.total, limit: this.services.limits.log } : undefined;
  }

  /** Bytes of the whole log. Events from before this recording are included only if their bytes are known. */
  get logBytes(): number {
    return this.size.total;
  }

  /** Number of events that are recorded but not yet durable. */
  get backlog(): number {
    return this.sequence - this.durable;
  }

  /** Bytes of the events that are not yet durable. */
  get backlogBytes(): number {
    return this.memory.waiting;
  }

  /**
   * Reason why this recording can record nothing more: ClaimLost, or the database's error for an event. `undefined`
   * while it can record.
   */
  get failure(): Error | undefined {
    return this.broken;
  }

  /**
   * True if the store has the claim (this process may write the Task) and this recording has neither ended nor failed.
   */
  get claims(): boolean {
    return this.durable > 0 && !this.broken && !this.settled;
  }

  get state(): TaskState | undefined {
    return this.fold?.state;
  }

  /** True if the Task has ended, waits, or is parked (released until a time): this recording accepts no more events. */
  get settled(): boolean {
    const { state } = this;
    if (state === undefined || this.sequence <= this.start) return false;
    return this.isParked || !isActiveState(state);
  }

  private get start(): number {
    return this.header.lastSequence;
  }

  /**
   * Checks that an event fits into the log, before it is recorded. Call this if you could record a smaller event
   * instead.
   * @throws TaskLimitExceeded if the event does not fit
   */
  assertRecordable(event: TaskEvent): void {
    if (this.admitted?.event !== event) this.admitted = { event, text: this.texts.serializeEvent(event) };
    this.size.checkEvent(event, eventBytes(event, this.admitted.text.json));
  }

  /**
   * Adds an event to the log. The event is durable after `flushEvents`.
   * @throws TaskEventRefused if the Task's state does not allow the event, or TaskLimitExceeded if the event is too
   * large: the Task is unchanged in both cases
   * @throws `failure` if the recording has failed
   */
  recordEvent(event: TaskEvent): RecordedEvent {
    if (this.broken) throw this.broken;
    if (this.settled) throw new TaskEventRefused(`The task takes no more events: ${this.state}`);
    const { json, row } = this.admitted?.event === event ? this.admitted.text : this.texts.serializeEvent(event);
    this.admitted = undefined;
    const bytes = eventBytes(event, json);
    this.size.checkEvent(event, bytes);
    if (this.fold) this.fold.applyEvent(event);
    else this.fold = TaskFold.beginTask(event);
    this.takeSize(event, bytes);
    this.isParked = parkedUntil(event) !== undefined;
    this.sequence += 1;
    const recorded: RecordedEvent = { taskId: this.taskId, sequence: this.sequence, event, json, row };
    this.pending.push(recorded);
    this.last = recorded;
    const moving = bytes + promptBytes(event);
    this.memory.addRecorded(moving);
    this.enqueueEvent(moving + this.takeSnapshot(this.fold));
    return recorded;
  }

  /**
   * Counts an event's size. Calls `nearlyFull` if the log passes three quarters of TASK_LIMIT with this event. Over all
   * processes, this happens once per Task.
   */
  private takeSize(event: TaskEvent, bytes: number): void {
    const wasNearlyFull = this.size.isNearlyFull;
    this.size.countEvent(event, bytes);
    if (!wasNearlyFull && this.size.isNearlyFull) this.services.nearlyFull?.(this.header, this.size.total);
  }

  private enqueueEvent(bytes: number): void {
    this.marks.push({ mark: this.services.journal.enqueueEvent(this, bytes), bytes });
  }

  /**
   * Creates the snapshot of an ended Task whose log is long enough.
   * @returns the bytes of the snapshot, which is written with the last event; 0 if there is no snapshot
   */
  private takeSnapshot(fold: TaskFold): number {
    if (!isTerminalState(fold.state) || !isWorthSnapshot(this.sequence, this.size.total)) return 0;
    this.snapshot = toSnapshot(fold.toTask());
    return snapshotBytes(this.snapshot);
  }

  /**
   * Task in its recorded state, if all recorded events are durable, so that the log in the store gives the same state.
   * `undefined` if events are not durable yet, or this recording no longer writes the Task.
   */
  get standing(): StoredTask | undefined {
    if (!this.claims || this.backlog > 0) return undefined;
    const header = { ...this.header, ...this.drained, lastSequence: this.sequence };
    return { header, task: this.toTask(), bytes: this.logBytes };
  }

  /** Returns the Task as recorded so far, durable or not. @throws TaskEventRefused before the first event */
  toTask(): Task {
    if (!this.fold) throw new TaskEventRefused('The task has not begun');
    return this.fold.toTask();
  }

  /**
   * Resolves when all events up to `sequence` are durable; by default, all events recorded before the call.
   * @throws the `failure`, such as ClaimLost if another replica has the Task
   */
  flushEvents(sequence = this.sequence): Promise<void> {
    if (this.durable >= sequence) return Promise.resolve();
    if (this.broken) return Promise.reject(this.broken);
    return new Promise((resolve, reject) => this.waiters.push({ sequence, resolve, reject }));
  }

  /**
   * Resolves when the end of this recording is durable: a terminal or waiting state, or the parking of the Task (its
   * release until a time).
   * @throws the `failure`, such as ClaimLost if another replica has the Task
   */
  whenSettled(): Promise<void> {
    if (this.settled) return this.flushEvents();
    if (this.broken) return Promise.reject(this.broken);
    return new Promise((resolve, reject) => this.waiters.push({ sequence: Number.POSITIVE_INFINITY, resolve, reject }));
  }

  /**
   * Stops recording without ending the Task. Pending events are dropped, and the claim (right to write the Task)
   * remains for the replica that takes over the Task.
   */
  abandonTask(): void {
    this.failRecording(new ClaimLost(`This process no longer works on task ${this.taskId}`));
  }

  /** Events that wait for the journal. */
  get waitingEvents(): readonly WaitingEvent[] {
    return this.marks;
  }

  /**
   * Removes the waiting events and returns them for the journal: all of them, or those up to the event with the number
   * `upTo`; `undefined` if there are none.
   */
  drainEntry(upTo?: number): JournalEntry | undefined {
    if (this.pending.length === 0 || this.broken || !this.fold) return undefined;
    if (upTo !== undefined && this.marks.at(-1)!.mark > upTo) return this.drainPart(upTo);
    const { pending } = this;
    this.pending = [];
    this.marks = [];
    return this.buildEntry(pending);
  }

  /**
   * Removes and returns the events up to a number (`mark`), with the Task's state as of the last of them; `undefined`
   * if there are none.
   */
  private drainPart(upTo: number): JournalEntry | undefined {
    const count = this.marks.findIndex(({ mark }) => mark > upTo);
    if (count === 0) return undefined;
    this.marks.splice(0, count);
    const events = this.pending.splice(0, count);
    return this.buildEntry(events);
  }

  private buildEntry(events: RecordedEvent[]): JournalEntry {
    const { create, keyed } = this;
    const { state, updatedAt } = statusAfter(events) ?? this.drained;
    const snapshot = this.pending.length === 0 ? this.snapshot : undefined;
    this.create = undefined;
    this.keyed = undefined;
    this.drained = { state, updatedAt };
    const last = events.at(-1);
    const wakeAt = last && parkedUntil(last.event);
    const jobs = jobsOf(events, this.uselessJob(state, wakeAt), this.header);
    const questions = last && this.questionsAfter(last.event);
    const files = filesNamedIn(events);
    const first = events[0]?.event;
    const relayed = first && 'task' in first ? first.relayed : undefined;
    const remote = remoteIdsOf(events);
    const prompts = promptsOf(events);
    // An agent elsewhere may report anything.
    const calls = this.header.agent.startsWith('agents/') ? undefined : modelCallsIn(events);
    return {
      taskId: this.taskId,
      contextId: this.contextId,
      token: this.token,
      ...(create && { create }),
      ...(keyed && { keyed }),
      after: (events[0]?.sequence ?? 1) - 1,
      events,
      ...(snapshot && { snapshot }),
      ...(jobs && { jobs }),
      state,
      updatedAt,
      ...(wakeAt && { wakeAt }),
      ...(questions && { asked: { header: this.header, questions } }),
      ...(files && { named: { scope: this.header, files } }),
      ...(relayed && { relayed }),
      ...(remote && { remote }),
      ...(prompts && { prompts }),
      ...(calls && { used: { header: this.header, calls } }),
    };
  }

  /**
   * Returns a job that replaces the pending wake job of a Task that resumed before its time and has ended or waits for
   * its caller: the replacement is due now and changes nothing, so no wake job stays in the queue until the original
   * time. Returns `undefined` if there is no pending wake job, or it is still needed.
   */
  private uselessJob(state: TaskState, wakeAt: Date | undefined): Job | undefined {
    const { wakeAt: before } = this.header;
    const hasWakeJob = before !== undefined || this.waited;
    const keepsWakeJob = wakeAt !== undefined || isActiveState(state);
    if (!hasWakeJob || keepsWakeJob) return undefined;
    // A cancel request has made the Task due early.
    const isEarly = before === undefined || before.getTime() > Date.now() || state === 'TASK_STATE_CANCELED';
    return isEarly ? wakeJob(this.taskId, new Date()) : undefined;
  }

  /**
   * Returns the open questions of a Task after an event that ends the turn: an empty list unless the Task waits.
   * Returns `undefined` if the event does not end the turn, if the Task has never had a question, or if it is a child
   * Task, whose parent asks the questions.
   */
  private questionsAfter(event: TaskEvent): readonly TaskQuestion[] | undefined {
    if (this.header.parentTaskId !== undefined) return undefined;
    if (!('statusUpdate' in event) || !endsTurn(event)) return undefined;
    const { questions = [] } = event;
    return questions.length > 0 || this.start > 0 ? questions : undefined;
  }

  /**
   * Handles the outcome of an entry that the journal reports: its events are durable, were rejected, or could not be
   * written.
   */
  settleEntry(entry: JournalEntry, outcome: JournalOutcome | { failed: unknown }): void {
    if (outcome !== 'written') {
      this.failRecording(outcome === 'fenced' ? this.fencedBy(entry) : asError(outcome.failed));
      return;
    }
    this.durable = entry.after + entry.events.length;
    const done = this.settled && this.backlog === 0;
    if (done) this.memory.releaseAll();
    else this.memory.settleWritten(entry.events);
    this.services.feed.publishEvents(entry.events);
    // Another process writes the Task by now: followers in this process learn of its events only by signals and polls.
    if (this.broken) this.services.feed.closeTask(this.taskId);
    this.services.facts?.emitFacts(entry, this.header);
    this.resolveWaiters(done ? Number.POSITIVE_INFINITY : this.durable);
  }

  private fencedBy({ create }: JournalEntry): ClaimLost {
    if (create?.premise) return new PreconditionFailed();
    return new ClaimLost(`Task ${this.taskId} is written elsewhere`);
  }

  private resolveWaiters(upTo: number): void {
    const done = this.waiters.filter((waiter) => waiter.sequence <= upTo);
    this.waiters = this.waiters.filter((waiter) => waiter.sequence > upTo);
    for (const waiter of done) waiter.resolve();
  }

  /**
   * Marks the recording as failed. Only the first error is kept, because writes after it are rejected (fenced) as a
   * consequence.
   */
  private failRecording(error: Error): void {
    if (this.broken) return;
    this.broken = error;
    this.pending = [];
    this.marks = [];
    this.memory.releaseAll();
    this.services.feed.closeTask(this.taskId);
    const { waiters } = this;
    this.waiters = [];
    for (const waiter of waiters) waiter.reject(error);
    this.onFailure?.(error);
  }
}

function statusAfter(events: readonly RecordedEvent[]): { state: TaskState; updatedAt: Date } | undefined {
  const last = events.findLast(({ event }) => 'statusUpdate' in event || 'task' in event)?.event;
  if (!last || 'artifactUpdate' in last) return undefined;
  const { state, timestamp } = 'task' in last ? last.task.status : last.statusUpdate.status;
  return { state, updatedAt: timestamp === undefined ? new Date() : dateOfTimestamp(timestamp) };
}

/**
 * Returns the newest ids that a remote agent has for the Task, from the given events; `undefined` if no event has any.
 */
function remoteIdsOf(events: readonly RecordedEvent[]): RemoteIds | undefined {
  let remote: RemoteIds | undefined;
  for (const { event } of events) if ('remote' in event) ({ remote = remote } = event);
  return remote;
}

/**
 * Returns the lines of the prompts that belong to events, with the sequence of the first one; `undefined` if no event
 * has a prompt.
 */
function promptsOf(events: readonly RecordedEvent[]): JournalEntry['prompts'] {
  let prompts: JournalEntry['prompts'];
  for (const { sequence, event } of events) {
    const line = promptLineOf(event);
    if (line === undefined) continue;
    prompts = prompts ? { ...prompts, body: `${prompts.body}\n${line}` } : { sequence, body: line };
  }
  return prompts;
}

/** Returns the jobs that belong to events, together with the caller of the Task; `undefined` if there are none. */
function jobsOf(
  events: readonly RecordedEvent[],
  more: Job | undefined,
  { tenant, owner }: TaskHeader,
): Job[] | undefined {
  let jobs: Job[] | undefined = more && [more];
  for (const { taskId, event } of events) {
    if (event.jobs) (jobs ??= []).push(...event.jobs);
    const until = parkedUntil(event);
    if (until) (jobs ??= []).push(wakeJob(taskId, until));
  }
  return jobs?.map((job) => ({ ...job, caller: { tenant, owner } }));
}

function asError(failed: unknown): Error {
  return failed instanceof Error ? failed : new Error('A task event could not be written', { cause: failed });
}

export interface ContinuedRecording {
  idempotency?: Idempotency | undefined;
  waited?: boolean;
  atWork?: boolean;
}

/** Opens TaskRecordings, which are the only writers of Tasks. */
@Injectable()
export class TaskRecorder {
  private readonly logger = new Logger(TaskRecorder.name);
  private readonly services: RecordingServices;

  constructor(
    journal: TaskJournal,
    feed: TaskFeed,
    inFlight: InFlight,
    config: AppConfig,
    @Optional() facts?: TaskFacts,
    @Optional() metrics?: TaskMetrics,
  ) {
    const limits = limitsOf(config);
    const nearlyFull = ({ taskId, agent }: TaskHeader, bytes: number): void => {
      metrics?.nearlyFull();
      this.logger.warn({ taskId, agent, bytes, limit: limits.log }, 'The log of a task is nearly full (TASK_LIMIT)');
    };
    this.services = { journal, feed, inFlight, limits, nearlyFull, ...(facts && { facts }) };
  }

  /**
   * True if the journal has written nothing for JOURNAL_STALL_LIMIT while events wait. New Messages should then be
   * rejected.
   */
  get isStalled(): boolean {
    return this.services.journal.isStalled;
  }

  /**
   * Maximum milliseconds that a new Message may wait for the journal, and a function that returns the milliseconds
   * since the last write.
   */
  get acceptance(): { readonly limitMs: number; standsStillMs(): number } {
    const { journal } = this.services;
    return { limitMs: journal.stallLimitMs, standsStillMs: () => journal.standsStillMs };
  }

  /**
   * Creates the recording of a new Task. This process claims the Task (may write it) with the token. The first recorded
   * event must be `task`.
   */
  createRecording(create: NonNullable<JournalEntry['create']>, token: string): TaskRecording {
    return new TaskRecording(this.services, { header: create.header, token, create });
  }

  /**
   * Creates the recording of an existing Task that this process has claimed (may write) with the token.
   * @param idempotency key of the follow-up Message that the first event accepts
   * @param waited true if the Task has waited before, and another process than this one resumed it
   * @param atWork true if the Task is WORKING, and this process alone writes it until the recording ends or fails
   */
  continueRecording(
    stored: StoredTask,
    token: string,
    { idempotency, waited = false, atWork = false }: ContinuedRecording = {},
  ): TaskRecording {
    return new TaskRecording(this.services, {
      header: stored.header,
      token,
      fold: TaskFold.fromTask(stored.task),
      bytes: stored.bytes,
      waited,
      atWork,
      ...(idempotency && { keyed: { header: stored.header, idempotency } }),
    });
  }
}

function limitsOf({ memory, content }: AppConfig): TaskLimits {
  return { event: memory.eventBytes, artifact: content.artifact, log: content.task };
}
