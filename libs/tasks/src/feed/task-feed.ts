import { Inject, Injectable, type OnModuleDestroy, Optional } from '@nestjs/common';
import { isDatabaseAway, ReadEnded, ReplicaSignals, type SignalSubscription, type SignalTopic } from '#libs/postgres';
import { isTerminalState, isWaitingState, type TaskState } from '#libs/protocol';
import { ShortLivedMap } from '#libs/service';
import { endsTurn, type RecordedEvent } from '../fold/task-event.js';
import { type TaskScope, TaskStore } from '../store/task-store.js';

/** Maximum number of newest events that are kept per Task. */
const MAX_EVENTS_PER_TASK = 1024;
/** Maximum characters of the newest events that are kept per Task. */
const MAX_CHARACTERS_PER_TASK = 1024 * 1024;
/**
 * Maximum characters of all kept events of Tasks that this process writes. Above it, the events of the Task that was
 * written longest ago are dropped first. The kept newest events of a Task are called its tail.
 */
const MAX_CHARACTERS = 16 * 1024 * 1024;
/** Newest events of a Task, without gaps. */
interface Tail {
  /** Sequence of the newest event, even if that event was too large to be kept. */
  last: number;
  events: RecordedEvent[];
  characters: number;
}

/**
 * Cache of the newest committed events of Tasks that this process writes or has just finished writing, so that
 * followers in this process need no query. Committed events never change, so the cache is never stale. Other events are
 * read from the store.
 */
export class RecentEvents {
  /**
   * Newest events of Tasks that this process writes now. No other process writes these Tasks, so the store has no
   * events of them that were not added here.
   */
  private readonly open = new TailsByAge(MAX_CHARACTERS);
  private readonly settled = new PassingTails();

  /** Adds newly committed events of one Task. */
  add(events: readonly RecordedEvent[]): void {
    const last = events.at(-1);
    if (!last) return;
    const tail = this.tailFor(events);
    for (const event of events) {
      tail.events.push(event);
      tail.characters += event.json.length;
    }
    while (tail.events.length > MAX_EVENTS_PER_TASK || tail.characters > MAX_CHARACTERS_PER_TASK) dropOlderHalf(tail);
    tail.last = last.sequence;
    (endsTurn(last.event) ? this.settled : this.open).put(last.taskId, tail);
  }

  /** Registers that this process writes a Task from now on, whose log ends at the sequence `last`. */
  openTail(taskId: string, last: number): void {
    const known = this.open.get(taskId);
    if (known && known.last >= last) return;
    this.close(taskId);
    this.open.put(taskId, { last, events: [], characters: 0 });
  }

  /** Returns the events after a sequence if the first of them is cached; `undefined` if the store must be read. */
  findAfter(taskId: string, sequence: number): readonly RecordedEvent[] | undefined {
    const events = this.findTail(taskId)?.events;
    const first = events?.[0];
    if (!events || !first || first.sequence > sequence + 1) return undefined;
    const rest = events.slice(sequence + 1 - first.sequence);
    return rest.length > 0 ? rest : undefined;
  }

  /** True if this process writes the Task, so that every new event of the Task will be published in this process. */
  isOpen(taskId: string): boolean {
    return this.open.has(taskId);
  }

  /**
   * True if no event after the sequence is committed. This is known only if this process writes the Task; otherwise
   * false.
   */
  isCurrent(taskId: string, sequence: number): boolean {
    const tail = this.open.get(taskId);
    return tail !== undefined && tail.last <= sequence;
  }

  /** Drops the events of a Task that another process writes now. */
  close(taskId: string): void {
    this.open.takeTail(taskId);
    this.settled.takeTail(taskId);
  }

  private findTail(taskId: string): Tail | undefined {
    return this.open.get(taskId) ?? this.settled.get(taskId);
  }

  /**
   * Removes and returns the tail (kept newest events) of a Task, to which new events are added. If another process
   * wrote events in between, returns an empty tail instead, because a tail has no gaps.
   */
  private tailFor([first]: readonly RecordedEvent[]): Tail {
    const known = first && (this.open.takeTail(first.taskId) ?? this.settled.takeTail(first.taskId));
    if (known && known.last === first.sequence - 1) return known;
    return { last: 0, events: [], characters: 0 };
  }
}

/**
 * Tails (newest events of a Task) in the order in which they were written. Above the capacity in characters the oldest
 * tails are dropped.
 */
class TailsByAge {
  private readonly tails = new Map<string, Tail>();
  private characters = 0;

  constructor(private readonly capacity: number) {}

  has(taskId: string): boolean {
    return this.tails.has(taskId);
  }

  get(taskId: string): Tail | undefined {
    return this.tails.get(taskId);
  }

  put(taskId: string, tail: Tail): void {
    this.tails.set(taskId, tail);
    this.characters += tail.characters;
    if (this.characters > this.capacity) this.evictOldest();
  }

  takeTail(taskId: string): Tail | undefined {
    const tail = this.tails.get(taskId);
    if (!tail) return undefined;
    this.tails.delete(taskId);
    this.characters -= tail.characters;
    return tail;
  }

  private evictOldest(): void {
    for (const taskId of this.tails.keys()) {
      if (this.characters <= this.capacity) return;
      this.takeTail(taskId);
    }
  }
}

/**
 * Newest events of Tasks that have just ended, begun to wait for an answer, or been parked (released until a time).
 * They are kept for one cycle of the event loop, in which the followers that they wake read them. If kept longer, the
 * events of a busy service would outlive V8's young generation, which makes every garbage collection ten times as long.
 */
class PassingTails {
  private fresh = new Map<string, Tail>();
  private passing = new Map<string, Tail>();
  private turning = false;

  get(taskId: string): Tail | undefined {
    return this.fresh.get(taskId) ?? this.passing.get(taskId);
  }

  put(taskId: string, tail: Tail): void {
    this.fresh.set(taskId, tail);
    this.turnLater();
  }

  takeTail(taskId: string): Tail | undefined {
    const tail = this.get(taskId);
    this.fresh.delete(taskId);
    this.passing.delete(taskId);
    return tail;
  }

  private turnLater(): void {
    if (this.turning) return;
    this.turning = true;
    setImmediate(() => {
      this.turning = false;
      this.passing = this.fresh;
      this.fresh = new Map();
      if (this.passing.size > 0) this.turnLater();
    });
  }
}

/** Drops half of the events at once, since shifting an array is expensive. */
function dropOlderHalf(tail: Tail): void {
  const gone = tail.events.splice(0, Math.ceil(tail.events.length / 2));
  tail.characters -= gone.reduce((sum, event) => sum + event.json.length, 0);
}

/** Condition that ends a follower: `terminal` if the Task ends, `waiting` if the Task ends or waits for its caller. */
type FollowUntil = 'terminal' | 'waiting';

/**
 * Parts of the feed that a follower uses: the store and the cache of recent events that it reads, and the registry
 * through which the feed wakes the follower.
 */
interface FollowedLogs {
  readonly store: TaskStore;
  readonly recent: RecentEvents;
  readonly others: SignalSubscription | undefined;
  removeFollower(follower: TaskFollower): void;
}

/**
 * Number of events in the first read of a follower. Later reads adapt to about a megabyte of text, by the size of
 * earlier events.
 */
const FIRST_PAGE = 16;
const LARGEST_PAGE = 256;
const PAGE_CHARACTERS = 1024 * 1024;
const OUTAGE_PAUSE_MS = 250;
const NONE: readonly RecordedEvent[] = [];

/**
 * Follower of one Task's log: its reader takes pages of events, and is woken when there may be more events. An idle
 * follower has no promise, generator or timer.
 */
export class TaskFollower {
  /**
   * Reader that is woken when `readNext` may have events, or the follower is closed; `undefined`: none. It
   * may be woken several times, and in any turn of the event loop.
   */
  reader: { wake(): void } | undefined;
  private page = FIRST_PAGE;
  /** True if the log may have events that this follower has not read. */
  private behind = true;
  /** True if the follower waits for signals of other replicas. */
  private watching = false;
  private isOver = false;
  private endPause: (() => void) | undefined;

  constructor(
    readonly taskId: string,
    private last: number,
    private readonly until: FollowUntil,
    private readonly logs: FollowedLogs,
    private readonly scope?: TaskScope,
  ) {}

  /**
   * Resolves with the next events, each once and in order; with `[]` if none are available yet; with `undefined` at the
   * end of the log or after `close`. Must not be called concurrently.
   */
  async readNext(): Promise<readonly RecordedEvent[] | undefined> {
    if (this.isOver) return undefined;
    if (!this.behind) return this.watchForMore();
    this.behind = false;
    const { page } = this;
    const events = this.readPublished() ?? (await this.onceReachable(() => this.readStored()));
    if (events === undefined || this.isOver) return undefined;
    if (events.length === 0) {
      const ended = this.isWrittenHere ? false : await this.onceReachable(() => this.hasLogEnded());
      if (ended === false && !this.isOver) return this.watchForMore();
      this.leaveFeed();
      return undefined;
    }
    // A page that is not full reaches the end of the log.
    if (events.length >= page) this.behind = true;
    return this.upToEnd(events);
  }

  /**
   * Records that there may be new events, or that another process writes the Task from now on, and wakes the reader.
   */
  noteProgress(): void {
    this.behind = true;
    this.reader?.wake();
  }

  /** Wakes the reader if it has not read the event with this sequence yet. */
  wakeBefore(sequence: number): void {
    if (this.last < sequence) this.noteProgress();
  }

  /** Closes the follower: `readNext` resolves with `undefined`. Idempotent. */
  close(): void {
    this.leaveFeed();
    this.endPause?.();
    this.reader?.wake();
  }

  private leaveFeed(): void {
    if (this.isOver) return;
    this.isOver = true;
    if (this.watching) this.logs.others?.unwatchKey(this.taskId);
    this.logs.removeFollower(this);
  }

  /**
   * Starts to watch for further events, and returns an empty array. Subscribes to signals of other replicas only if
   * needed: most followers of a Task are in the replica that executes it.
   */
  private watchForMore(): readonly RecordedEvent[] {
    if (this.watching || this.behind || this.isWrittenHere) return NONE;
    this.watching = true;
    this.logs.others?.watchKey(this.taskId);
    return NONE;
  }

  private get isWrittenHere(): boolean {
    return this.logs.recent.isOpen(this.taskId);
  }

  /**
   * Returns the new events from the cache of recent events; `[]` if there are certainly none; `undefined` if the store
   * must be read.
   */
  private readPublished(): readonly RecordedEvent[] | undefined {
    const { recent } = this.logs;
    return recent.isCurrent(this.taskId, this.last) ? NONE : recent.findAfter(this.taskId, this.last);
  }

  /**
   * Reads a page from the store. The number of events in the next page depends on the size of these events, because a
   * reader may hold a page in memory for long.
   */
  private async readStored(): Promise<readonly RecordedEvent[]> {
    const events = await this.logs.store.readEvents(this.taskId, this.last, this.page, this.scope);
    const characters = events.reduce((sum, { json }) => sum + json.length, 1);
    const fitting = Math.floor((PAGE_CHARACTERS * events.length) / characters);
    if (events.length > 0) this.page = Math.min(Math.max(fitting, 1), LARGEST_PAGE);
    return events;
  }

  private upToEnd(events: readonly RecordedEvent[]): readonly RecordedEvent[] {
    const end = events.findIndex((event) => endsStream(event, this.until));
    const taken = end < 0 ? events : events.slice(0, end + 1);
    this.last = taken.at(-1)!.sequence;
    if (end >= 0) this.leaveFeed();
    return taken;
  }

  /**
   * True if the followed log has ended, or the Task no longer exists. It costs a query, so it is called only when there
   * is nothing to read: the last event of a log usually ends the follower already.
   */
  private async hasLogEnded(): Promise<boolean> {
    if (this.isWrittenHere) return false;
    const header = await this.logs.store.readHeader(this.taskId);
    if (!header) return true;
    return isEndState(header.state, this.until) && header.lastSequence <= this.last;
  }

  /**
   * Repeats a read until the database is reachable, and resolves with the result; with `undefined` if the follower is
   * closed first.
   */
  private async onceReachable<T>(read: () => Promise<T>): Promise<T | undefined> {
    while (!this.isOver) {
      try {
        return await read();
      } catch (error) {
        if (!isDatabaseAway(error) && !(error instanceof ReadEnded)) throw error;
      }
      await this.pauseForOutage();
    }
    return undefined;
  }

  private async pauseForOutage(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, OUTAGE_PAUSE_MS);
    this.endPause = resolve;
    await promise;
    clearTimeout(timer);
    this.endPause = undefined;
  }
}

function endsStream({ event }: RecordedEvent, until: FollowUntil): boolean {
  return 'statusUpdate' in event && isEndState(event.statusUpdate.status.state, until);
}

function isEndState(state: TaskState, until: FollowUntil): boolean {
  return isTerminalState(state) || (until === 'waiting' && isWaitingState(state));
}

export interface FollowOptions {
  /** Signal that ends the iteration of events without an error. */
  signal?: AbortSignal;
  /**
   * End of the stream. `terminal` (the default): when the Task ends. `waiting`: also when the Task waits for its
   * caller.
   */
  until?: FollowUntil;
  /**
   * Caller on whose behalf the log is read. Reads of long logs by different callers take turns. If absent, the reads do
   * not wait for other reads.
   */
  reader?: TaskScope;
}

/** Signal between replicas: events were committed to the log of a Task. The key is the Task's id. */
const TASK_PROGRESS: SignalTopic = { name: 'task_progress', shards: 16 };

/** Injection token: milliseconds between polls of Tasks that another replica executes, 1,000 by default. */
const FEED_POLL_MS = Symbol('FEED_POLL_MS');

/**
 * Feed of the logs of single Tasks (CommitFeed follows the commits of all Tasks). The cursor is a `sequence`.
 * - A follower gets every event after its sequence exactly once and in order, first from the store, then as events are
 *   committed.
 * - A follower never slows the Task down. Events that it has not taken stay in the log, so a slow reader costs no
 *   memory.
 * - While the database is unreachable, followers wait.
 * - Commits of this process wake followers immediately. A signal reports commits of other replicas; it may be lost, so
 *   the store is also polled every second. Signals are received only for followed Tasks that are not executed in this
 *   process.
 */
@Injectable()
export class TaskFeed implements OnModuleDestroy {
  private readonly recent = new RecentEvents();
  private readonly followers = new ShortLivedMap<Set<TaskFollower>>();
  private readonly logs: FollowedLogs;
  private poll: NodeJS.Timeout | undefined;

  /** @param signals absent if no other process uses the same store */
  constructor(
    private readonly store: TaskStore,
    @Optional() private readonly signals?: ReplicaSignals,
    @Optional() @Inject(FEED_POLL_MS) private readonly pollMs = 1000,
  ) {
    const others: SignalSubscription | undefined = signals?.subscribeTopic(TASK_PROGRESS, {
      wakeFor: (taskId) => this.wakeFollowers(taskId),
      catchUp: () => void this.wakeBehind(),
    });
    this.logs = { store, recent: this.recent, others, removeFollower: (follower) => this.removeFollower(follower) };
  }

  /**
   * Wakes the followers of a Task in this replica and at other replicas, after events of the Task were committed. Only
   * TaskRecording calls it.
   */
  publishEvents(events: readonly RecordedEvent[]): void {
    this.recent.add(events);
    const taskId = events[0]?.taskId;
    if (taskId === undefined) return;
    this.wakeFollowers(taskId);
    this.signals?.sendSignal(TASK_PROGRESS, taskId);
  }

  /**
   * Registers that this process writes the Task from now on. Followers that have read up to `lastSequence` then need no
   * query. Only TaskRecording calls this method. When a recording stops, it calls `closeTask`, or publishes an event by
   * which the Task ends, waits or is parked.
   * @param lastSequence sequence of the last event in the Task's log
   */
  openTask(taskId: string, lastSequence: number): void {
    this.recent.openTail(taskId, lastSequence);
    // Followers of the Task may not have received signals about earlier events of other replicas.
    this.wakeFollowers(taskId);
  }

  /**
   * Registers that this process no longer writes the Task, so that followers read its later events from the store. Does
   * not end the Task. Only TaskRecording calls this.
   */
  closeTask(taskId: string): void {
    this.recent.close(taskId);
    this.wakeFollowers(taskId);
  }

  /** Yields the events of a Task after a sequence. FollowOptions determine the end. An unknown Task has no events. */
  async *followTask(taskId: string, afterSequence: number, options: FollowOptions = {}): AsyncGenerator<RecordedEvent> {
    const { signal, until, reader: scope } = options;
    if (signal?.aborted) return;
    const follower = this.openFollower(taskId, afterSequence, until, scope);
    const reader = new WaitingReader();
    follower.reader = reader;
    const closeFollower = (): void => follower.close();
    signal?.addEventListener('abort', closeFollower);
    try {
      for (let events = await follower.readNext(); events; events = await follower.readNext()) {
        for (const recorded of events) {
          yield recorded;
          if (signal?.aborted) return;
        }
        if (events.length === 0) await reader.waitForWake();
      }
    } finally {
      signal?.removeEventListener('abort', closeFollower);
      follower.close();
    }
  }

  /**
   * Opens a follower of the events after a sequence, for a reader that takes pages of events and is woken when there
   * are more. Between pages it holds only the TaskFollower itself in memory. The reader must close it.
   */
  openFollower(
    taskId: string,
    afterSequence: number,
    until: FollowUntil = 'terminal',
    scope?: TaskScope,
  ): TaskFollower {
    const follower = new TaskFollower(taskId, afterSequence, until, this.logs, scope);
    const followers = this.followers.get(taskId);
    if (followers) followers.add(follower);
    else this.followers.set(taskId, new Set([follower]));
    this.poll ??= setInterval(() => void this.wakeBehind(), this.pollMs).unref();
    return follower;
  }

  onModuleDestroy(): void {
    clearInterval(this.poll);
  }

  private wakeFollowers(taskId: string): void {
    for (const follower of this.followers.get(taskId) ?? []) follower.noteProgress();
  }

  private removeFollower(follower: TaskFollower): void {
    const { taskId } = follower;
    const followers = this.followers.get(taskId);
    followers?.delete(follower);
    if (followers?.size === 0) this.followers.delete(taskId);
    if (this.followers.size > 0) return;
    clearInterval(this.poll);
    this.poll = undefined;
  }

  /**
   * Wakes followers that have not read all events of the store, in case a signal was lost. Makes one query for all
   * followed Tasks that other replicas may be writing.
   */
  private async wakeBehind(): Promise<void> {
    const foreign = this.followers.keys().filter((taskId) => !this.recent.isOpen(taskId));
    if (foreign.length === 0) return;
    const reached = await this.store.lastSequences(foreign).catch(() => new Map<string, number>());
    for (const [taskId, sequence] of reached) {
      for (const follower of this.followers.get(taskId) ?? []) follower.wakeBefore(sequence);
    }
  }
}

/** Reader that waits for a wake-up. A wake-up before the wait ends the wait immediately. */
class WaitingReader {
  private isWoken = false;
  private resolve: (() => void) | undefined;

  wake(): void {
    this.isWoken = true;
    this.resolve?.();
  }

  async waitForWake(): Promise<void> {
    if (!this.isWoken) {
      await new Promise<void>((resolve) => {
        this.resolve = resolve;
      });
    }
    this.isWoken = false;
    this.resolve = undefined;
  }
}
