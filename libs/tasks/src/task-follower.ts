import { isDatabaseAway, ReadEnded, type SignalSubscription } from '#libs/postgres';
import { isTerminalState, isWaitingState } from '#libs/protocol';
import type { RecentEvents } from './recent-events.js';
import type { RecordedEvent } from './task-event.js';
import type { TaskScope, TaskStore } from './task-store.js';

/** `waiting`: what is followed ends also when the Task waits for its caller. */
export type FollowUntil = 'terminal' | 'waiting';

/** Where followers read, and where they are known. */
export interface FollowedLogs {
  readonly store: TaskStore;
  readonly recent: RecentEvents;
  readonly others: SignalSubscription | undefined;
  unregister(follower: TaskFollower): void;
}

/** Events that are read at once: as many as have about a megabyte of text, by those that were read before. */
const FIRST_PAGE = 16;
const LARGEST_PAGE = 256;
const PAGE_CHARACTERS = 1024 * 1024;
const OUTAGE_PAUSE_MS = 250;
const NONE: readonly RecordedEvent[] = [];

/**
 * One place in the log of one Task, whose reader takes a page, and is woken when there may be more. While there is
 * nothing to read this is all that there is of it: no promise, no generator, no timer.
 */
export class TaskFollower {
  /** Told that `read` may have something to give, also that it is over; more than once, perhaps, and in any turn. */
  reader: { wake(): void } | undefined;
  private page = FIRST_PAGE;
  /** Whether there may be something that was not read yet. */
  private behind = true;
  /** Whether it waits for signals of other replicas. */
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
   * The next events, each once and in order; none where there is nothing at present; `undefined` where nothing comes any
   * more, since the log ended or this was closed. Not to be called again before it has answered.
   */
  async read(): Promise<readonly RecordedEvent[] | undefined> {
    if (this.isOver) return undefined;
    if (!this.behind) return this.wait();
    this.behind = false;
    const { page } = this;
    const events = this.published() ?? (await this.onceReachable(() => this.stored()));
    if (events === undefined || this.isOver) return undefined;
    if (events.length === 0) {
      const ended = this.isWrittenHere ? false : await this.onceReachable(() => this.hasEnded());
      if (ended === false && !this.isOver) return this.wait();
      this.leave();
      return undefined;
    }
    // What was read reaches to the end of the log, unless the page is full.
    if (events.length >= page) this.behind = true;
    return this.upToEnd(events);
  }

  /** Something was committed, or is written elsewhere from now on. */
  wake(): void {
    this.behind = true;
    this.reader?.wake();
  }

  /** Wakes it if the log reaches further than it has read. */
  wakeBefore(sequence: number): void {
    if (this.last < sequence) this.wake();
  }

  /** Nothing is read any more: `read` gives `undefined`. Idempotent. */
  close(): void {
    this.leave();
    this.endPause?.();
    this.reader?.wake();
  }

  private leave(): void {
    if (this.isOver) return;
    this.isOver = true;
    if (this.watching) this.logs.others?.unwatch(this.taskId);
    this.logs.unregister(this);
  }

  /** Others are heard only when there is something to wait for: most followers of a Task are where it is executed. */
  private wait(): readonly RecordedEvent[] {
    if (this.watching || this.behind || this.isWrittenHere) return NONE;
    this.watching = true;
    this.logs.others?.watch(this.taskId);
    return NONE;
  }

  private get isWrittenHere(): boolean {
    return this.logs.recent.isOpen(this.taskId);
  }

  /** What is known without a query: that there is nothing, too. */
  private published(): readonly RecordedEvent[] | undefined {
    const { recent } = this.logs;
    return recent.isCurrent(this.taskId, this.last) ? NONE : recent.after(this.taskId, this.last);
  }

  /** What a reader has not taken yet stays in the store: a page, which it may hold for long, has few large events. */
  private async stored(): Promise<readonly RecordedEvent[]> {
    const events = await this.logs.store.events(this.taskId, this.last, this.page, this.scope);
    const characters = events.reduce((sum, { json }) => sum + json.length, 1);
    const fitting = Math.floor((PAGE_CHARACTERS * events.length) / characters);
    if (events.length > 0) this.page = Math.min(Math.max(fitting, 1), LARGEST_PAGE);
    return events;
  }

  private upToEnd(events: readonly RecordedEvent[]): readonly RecordedEvent[] {
    const end = events.findIndex((event) => endsStream(event, this.until));
    const taken = end < 0 ? events : events.slice(0, end + 1);
    this.last = taken.at(-1)!.sequence;
    if (end >= 0) this.leave();
    return taken;
  }

  /** Asked only when there is nothing to read: most streams end with an event that says so. */
  private async hasEnded(): Promise<boolean> {
    if (this.isWrittenHere) return false;
    const header = await this.logs.store.header(this.taskId);
    if (!header) return true;
    const ended = isTerminalState(header.state) || (this.until === 'waiting' && isWaitingState(header.state));
    return ended && header.lastSequence <= this.last;
  }

  /** What a read gives, as soon as the database is within reach; `undefined` where this is closed first. */
  private async onceReachable<T>(read: () => Promise<T>): Promise<T | undefined> {
    while (!this.isOver) {
      try {
        return await read();
      } catch (error) {
        if (!isDatabaseAway(error) && !(error instanceof ReadEnded)) throw error;
      }
      await this.pause();
    }
    return undefined;
  }

  private async pause(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, OUTAGE_PAUSE_MS);
    this.endPause = resolve;
    await promise;
    clearTimeout(timer);
    this.endPause = undefined;
  }
}

function endsStream({ event }: RecordedEvent, until: FollowUntil): boolean {
  if (!('statusUpdate' in event)) return false;
  const { state } = event.statusUpdate.status;
  return isTerminalState(state) || (until === 'waiting' && isWaitingState(state));
}
