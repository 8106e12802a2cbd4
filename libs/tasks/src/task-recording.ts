import type { Job } from '#libs/platform';
import { isTerminalState, isWaitingState, type Task, type TaskState } from '#libs/protocol';
import { type RecordedEvent, type TaskEvent, toStreamResponse } from './task-event.js';
import type { TaskFeed } from './task-feed.js';
import { TaskEventRefused, TaskFold } from './task-fold.js';
import type { JournalSource, TaskJournal } from './task-journal.js';
import type { JournalEntry, JournalOutcome, TaskHeader } from './task-store.js';

/** The claim to the Task was lost: another replica writes it now, or it has ended. Nothing more can be recorded here. */
export class ClaimLost extends Error {
  override readonly name = 'ClaimLost';
}

interface RecordingStart {
  header: TaskHeader;
  token: string;
  create?: NonNullable<JournalEntry['create']>;
  keyed?: NonNullable<JournalEntry['keyed']>;
  fold?: TaskFold;
}

interface Waiter {
  sequence: number;
  resolve(): void;
  reject(reason: unknown): void;
}

/**
 * One claim's share of a Task's log, from the claim to the terminal or waiting state. Events get their sequence at once
 * and become durable with a later batch, in order; readers see them only then.
 */
export class TaskRecording implements JournalSource {
  readonly taskId: string;
  readonly contextId: string;
  readonly token: string;
  private readonly header: TaskHeader;
  private create: JournalEntry['create'];
  private keyed: JournalEntry['keyed'];
  private fold: TaskFold | undefined;
  private pending: RecordedEvent[] = [];
  private jobs: Job[] | undefined;
  private sequence: number;
  private durable: number;
  private updatedAt: Date;
  private broken: Error | undefined;
  private waiters: Waiter[] = [];

  constructor(
    private readonly journal: TaskJournal,
    private readonly feed: TaskFeed,
    start: RecordingStart,
  ) {
    this.header = start.header;
    this.taskId = start.header.taskId;
    this.contextId = start.header.contextId;
    this.token = start.token;
    this.create = start.create;
    this.keyed = start.keyed;
    this.fold = start.fold;
    this.sequence = start.create ? 0 : start.header.lastSequence;
    this.durable = this.sequence;
    this.updatedAt = start.header.updatedAt;
  }

  get lastSequence(): number {
    return this.sequence;
  }

  /** How many events are recorded but not yet durable. */
  get backlog(): number {
    return this.sequence - this.durable;
  }

  /** Why nothing more can be recorded: ClaimLost, or what the database said of an event. */
  get failure(): Error | undefined {
    return this.broken;
  }

  get state(): TaskState | undefined {
    return this.fold?.state;
  }

  /** Whether the Task has ended or waits: this recording takes no more events. */
  get settled(): boolean {
    const { state } = this;
    return state !== undefined && (isTerminalState(state) || isWaitingState(state)) && this.sequence > this.start;
  }

  private get start(): number {
    return this.header.lastSequence;
  }

  /**
   * Adds an event to the log. It is durable after `flush`.
   * @throws TaskEventRefused if the Task's life does not allow it, ClaimLost if the claim is gone
   */
  record(event: TaskEvent): RecordedEvent {
    if (this.broken) throw this.broken;
    if (this.settled) throw new TaskEventRefused(`The task takes no more events: ${this.state}`);
    if (this.fold) this.fold.apply(event);
    else this.fold = TaskFold.begin(event);
    this.sequence += 1;
    if ('statusUpdate' in event) this.updatedAt = new Date(event.statusUpdate.status.timestamp ?? Date.now());
    if (!('artifactUpdate' in event) && event.jobs) (this.jobs ??= []).push(...event.jobs);
    const json = JSON.stringify(toStreamResponse(event));
    const recorded: RecordedEvent = { taskId: this.taskId, sequence: this.sequence, event, json };
    this.pending.push(recorded);
    this.journal.enqueue(this);
    return recorded;
  }

  /** The Task as recorded so far, durable or not. */
  task(): Task {
    if (!this.fold) throw new TaskEventRefused('The task has not begun');
    return this.fold.task();
  }

  /**
   * Resolves when everything recorded before the call is durable, or what `sequence` names.
   * @throws ClaimLost if another replica has the Task
   */
  flush(sequence = this.sequence): Promise<void> {
    if (this.durable >= sequence) return Promise.resolve();
    if (this.broken) return Promise.reject(this.broken);
    return new Promise((resolve, reject) => this.waiters.push({ sequence, resolve, reject }));
  }

  /**
   * Resolves when the terminal or waiting state that ends this recording is durable.
   * @throws ClaimLost if another replica has the Task
   */
  whenSettled(): Promise<void> {
    if (this.settled) return this.flush();
    if (this.broken) return Promise.reject(this.broken);
    return new Promise((resolve, reject) => this.waiters.push({ sequence: Number.POSITIVE_INFINITY, resolve, reject }));
  }

  /** Stops recording without ending the Task: what is not yet durable is dropped, and the claim stays for who adopts it. */
  abandon(): void {
    this.fail(new ClaimLost(`This process no longer works on task ${this.taskId}`));
  }

  /** For the journal. */
  drain(): JournalEntry | undefined {
    if (this.pending.length === 0 || this.broken || !this.fold) return undefined;
    const { pending: events, create, keyed, jobs } = this;
    this.pending = [];
    this.jobs = undefined;
    this.create = undefined;
    this.keyed = undefined;
    return {
      taskId: this.taskId,
      token: this.token,
      ...(create && { create }),
      ...(keyed && { keyed }),
      after: (events[0]?.sequence ?? 1) - 1,
      events,
      ...(jobs && { jobs }),
      state: this.fold.state,
      updatedAt: this.updatedAt,
    };
  }

  /** For the journal. */
  settle(entry: JournalEntry, outcome: JournalOutcome | { failed: unknown }): void {
    if (outcome !== 'written') {
      this.fail(
        outcome === 'fenced' ? new ClaimLost(`Task ${this.taskId} is written elsewhere`) : asError(outcome.failed),
      );
      return;
    }
    this.durable = entry.after + entry.events.length;
    this.feed.publish(entry.events);
    this.wake(this.settled && this.backlog === 0 ? Number.POSITIVE_INFINITY : this.durable);
  }

  private wake(upTo: number): void {
    const done = this.waiters.filter((waiter) => waiter.sequence <= upTo);
    this.waiters = this.waiters.filter((waiter) => waiter.sequence > upTo);
    for (const waiter of done) waiter.resolve();
  }

  private fail(error: Error): void {
    this.broken = error;
    this.pending = [];
    this.feed.lost(this.taskId);
    const { waiters } = this;
    this.waiters = [];
    for (const waiter of waiters) waiter.reject(error);
  }
}

function asError(failed: unknown): Error {
  return failed instanceof Error ? failed : new Error('A task event could not be written', { cause: failed });
}
