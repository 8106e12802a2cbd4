import { isDatabaseAway, ReadEnded, type SignalSubscription } from '#libs/postgres';
import { isTerminalState, isWaitingState } from '#libs/protocol';
import type { RecentEvents } from './recent-events.js';
import type { RecordedEvent } from './task-event.js';
import type { TaskScope, TaskStore } from './task-store.js';

/** End of a followed stream. `waiting`: also when the Task waits for its caller. */
export type FollowUntil = 'terminal' | 'waiting';

/** Sources that followers read from, and the registry that knows them. */
export interface FollowedLogs {
  readonly store: TaskStore;
  readonly recent: RecentEvents;
  readonly others: SignalSubscription | undefined;
  removeFollower(follower: TaskFollower): void;
}

/** Number of events per read, adapted to about a megabyte of text by the size of earlier events. */
const FIRST_PAGE = 16;
const LARGEST_PAGE = 256;
const PAGE_CHARACTERS = 1024 * 1024;
const OUTAGE_PAUSE_MS = 250;
const NONE: readonly RecordedEvent[] = [];

/**
 * Place in the log of one Task. Its reader takes pages, and is woken when there may be more. An idle follower has no
 * promise, generator or timer.
 */
export class TaskFollower {
  /** Woken when `readNext` may have events or the follower is over, possibly several times and in any turn. */
  reader: { wake(): void } | undefined;
  private page = FIRST_PAGE;
  /** True if there may be unread events. */
  private behind = true;
  /** True if it waits for signals of other replicas. */
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
   * Resolves with the next events, each once and in order; `[]` if none are available yet; `undefined` at the end of
   * the log or after `close`. Must not be called concurrently.
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

  /** Notes that events were committed, or that another process writes the Task now. */
  noteProgress(): void {
    this.behind = true;
    this.reader?.wake();
  }

  /** Wakes the reader if the log has events after its place. */
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
   * Waits for more events. Watches other replicas only if needed: most followers of a Task are in the replica that
   * executes it.
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

  /** Returns the events that are known without a query; `[]` if there are known to be none. */
  private readPublished(): readonly RecordedEvent[] | undefined {
    const { recent } = this.logs;
    return recent.isCurrent(this.taskId, this.last) ? NONE : recent.findAfter(this.taskId, this.last);
  }

  /** Reads a page from the store. A reader may hold it for long, so it has few events if they are large. */
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
   * True if the followed stream has ended. Checked only when there is nothing to read: most streams end with an event.
   */
  private async hasLogEnded(): Promise<boolean> {
    if (this.isWrittenHere) return false;
    const header = await this.logs.store.readHeader(this.taskId);
    if (!header) return true;
    const ended = isTerminalState(header.state) || (this.until === 'waiting' && isWaitingState(header.state));
    return ended && header.lastSequence <= this.last;
  }

  /** Resolves with the result of a read once the database is reachable; `undefined` if the follower is closed first. */
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
  if (!('statusUpdate' in event)) return false;
  const { state } = event.statusUpdate.status;
  return isTerminalState(state) || (until === 'waiting' && isWaitingState(state));
}
