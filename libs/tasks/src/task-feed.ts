import { setTimeout as delay } from 'node:timers/promises';
import { Inject, Injectable, type OnModuleDestroy, Optional } from '@nestjs/common';
import { isDatabaseAway, ReplicaSignals, type SignalSubscription, type SignalTopic } from '#libs/postgres';
import { isTerminalState, isWaitingState } from '#libs/protocol';
import { PassingMap } from '#libs/service';
import { RecentEvents } from './recent-events.js';
import type { RecordedEvent } from './task-event.js';
import { TaskStore } from './task-store.js';

export interface FollowOptions {
  /** Ends the stream without an error. */
  signal?: AbortSignal;
  /** `terminal` (the default): ends with the Task. `waiting`: ends also when the Task waits for its caller. */
  until?: 'terminal' | 'waiting';
}

/** Something was committed to the log of a Task; the key is its id. */
export const TASK_PROGRESS: SignalTopic = { name: 'task_progress', shards: 16 };

/** Injected in milliseconds: how often the store is asked about Tasks that another replica executes, default 1,000. */
export const FEED_POLL_MS = Symbol('FEED_POLL_MS');
/** Events that are read at once: as many as have about a megabyte of text, by those that were read before. */
const FIRST_PAGE = 16;
const LARGEST_PAGE = 256;
const OUTAGE_PAUSE_MS = 250;
const PAGE_CHARACTERS = 1024 * 1024;

interface Follower {
  next: number;
  page: number;
  /** Whether it waits for signals of other replicas. */
  watching: boolean;
  wake(): void;
}

/**
 * The only reader of Task logs. A follower gets every event after its sequence exactly once and in order, first from
 * the store, then as it is committed; it never slows the Task down, and what it has not taken yet is held by the log
 * alone, so a slow reader costs no memory.
 *
 * While the database is out of reach followers wait. What this process commits wakes followers at once. What others commit is told by a signal, which may be lost: the
 * store is asked once a second too. Signals are heard only for followed Tasks that are not executed here.
 */
@Injectable()
export class TaskFeed implements OnModuleDestroy {
  private readonly recent = new RecentEvents();
  private readonly followers = new PassingMap<Set<Follower>>();
  private readonly others: SignalSubscription | undefined;
  private poll: NodeJS.Timeout | undefined;

  /** @param signals absent where no other process has the same store */
  constructor(
    private readonly store: TaskStore,
    @Optional() private readonly signals?: ReplicaSignals,
    @Optional() @Inject(FEED_POLL_MS) private readonly pollMs = 1000,
  ) {
    this.others = signals?.subscribe(TASK_PROGRESS, {
      wake: (taskId) => this.wake(taskId),
      catchUp: () => void this.wakeBehind(),
    });
  }

  /** Tells followers, here and at other replicas, of committed events of one Task. Called by recordings alone. */
  publish(events: readonly RecordedEvent[]): void {
    this.recent.add(events);
    const taskId = events[0]?.taskId;
    if (taskId === undefined) return;
    this.wake(taskId);
    this.signals?.send(TASK_PROGRESS, taskId);
  }

  /** The Task is written elsewhere from now on. Called by recordings alone. */
  lost(taskId: string): void {
    this.recent.close(taskId);
    this.wake(taskId);
  }

  /** The events of a Task after a sequence; see FollowOptions for where it ends. An unknown Task has no events. */
  async *follow(taskId: string, afterSequence: number, options: FollowOptions = {}): AsyncGenerator<RecordedEvent> {
    const { signal, until = 'terminal' } = options;
    const wakeSignal = new WakeSignal(signal);
    const follower: Follower = {
      next: afterSequence + 1,
      page: FIRST_PAGE,
      watching: false,
      wake: () => wakeSignal.set(),
    };
    this.register(taskId, follower);
    try {
      while (!signal?.aborted) {
        const { page } = follower;
        const events = await onceReachable(() => this.read(taskId, follower), signal);
        if (events === undefined) return;
        for (const recorded of events) {
          follower.next = recorded.sequence + 1;
          yield recorded;
          if (signal?.aborted || endsStream(recorded, until)) return;
        }
        if (events.length >= page) continue;
        // What was just read reaches to the end of the log, and did not end the stream.
        const ended = (): Promise<boolean> => this.hasEnded(taskId, follower.next - 1, until);
        if (events.length === 0 && (await onceReachable(ended, signal))) return;
        this.watchOthers(taskId, follower);
        await wakeSignal.wait(() => this.recent.after(taskId, follower.next - 1) !== undefined);
      }
    } finally {
      wakeSignal.close();
      this.unregister(taskId, follower);
    }
  }

  onModuleDestroy(): void {
    clearInterval(this.poll);
  }

  /** What a reader has not taken yet stays in the store: a page, which it may hold for long, has few large events. */
  private async read(taskId: string, follower: Follower): Promise<readonly RecordedEvent[]> {
    const after = follower.next - 1;
    if (this.recent.isCurrent(taskId, after)) return [];
    const recent = this.recent.after(taskId, after);
    if (recent) return recent;
    const events = await this.store.events(taskId, after, follower.page);
    const characters = events.reduce((sum, { json }) => sum + json.length, 1);
    const fitting = Math.floor((PAGE_CHARACTERS * events.length) / characters);
    if (events.length > 0) follower.page = Math.min(Math.max(fitting, 1), LARGEST_PAGE);
    return events;
  }

  /** Asked only when there is nothing to read: most streams end with an event that says so. */
  private async hasEnded(taskId: string, after: number, until: 'terminal' | 'waiting'): Promise<boolean> {
    if (this.recent.isOpen(taskId)) return false;
    const header = await this.store.header(taskId);
    if (!header) return true;
    const ended = isTerminalState(header.state) || (until === 'waiting' && isWaitingState(header.state));
    return ended && header.lastSequence <= after;
  }

  private wake(taskId: string): void {
    for (const follower of this.followers.get(taskId) ?? []) follower.wake();
  }

  /** Asked for only when there is something to wait for: most followers of a Task are where it is executed. */
  private watchOthers(taskId: string, follower: Follower): void {
    if (follower.watching || this.recent.isOpen(taskId)) return;
    follower.watching = true;
    this.others?.watch(taskId);
  }

  private register(taskId: string, follower: Follower): void {
    const followers = this.followers.get(taskId);
    if (followers) followers.add(follower);
    else this.followers.set(taskId, new Set([follower]));
    this.poll ??= setInterval(() => void this.wakeBehind(), this.pollMs).unref();
  }

  private unregister(taskId: string, follower: Follower): void {
    if (follower.watching) this.others?.unwatch(taskId);
    const followers = this.followers.get(taskId);
    followers?.delete(follower);
    if (followers?.size === 0) this.followers.delete(taskId);
    if (this.followers.size > 0) return;
    clearInterval(this.poll);
    this.poll = undefined;
  }

  /** The slow way that a signal cannot be lost on: one question for all followed Tasks that others may be writing. */
  private async wakeBehind(): Promise<void> {
    const foreign = this.followers.keys().filter((taskId) => !this.recent.isOpen(taskId));
    if (foreign.length === 0) return;
    const reached = await this.store.lastSequences(foreign).catch(() => new Map<string, number>());
    for (const [taskId, sequence] of reached) {
      for (const follower of this.followers.get(taskId) ?? []) if (sequence >= follower.next) follower.wake();
    }
  }
}

/** What a read gives, as soon as the database is within reach; `undefined` where the signal comes first. */
async function onceReachable<T>(read: () => Promise<T>, signal: AbortSignal | undefined): Promise<T | undefined> {
  while (!signal?.aborted) {
    try {
      return await read();
    } catch (error) {
      if (!isDatabaseAway(error)) throw error;
    }
    await delay(OUTAGE_PAUSE_MS, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
}

function endsStream({ event }: RecordedEvent, until: 'terminal' | 'waiting'): boolean {
  if (!('statusUpdate' in event)) return false;
  const { state } = event.statusUpdate.status;
  return isTerminalState(state) || (until === 'waiting' && isWaitingState(state));
}

/** Wakes one waiter; a signal that is set before the wait is not lost. */
class WakeSignal {
  private isSet = false;
  private resolve: (() => void) | undefined;
  private readonly onAbort = (): void => this.set();

  constructor(private readonly signal: AbortSignal | undefined) {
    signal?.addEventListener('abort', this.onAbort);
  }

  set(): void {
    this.isSet = true;
    this.resolve?.();
  }

  async wait(ready: () => boolean): Promise<void> {
    if (!this.isSet && !ready()) {
      await new Promise<void>((resolve) => {
        this.resolve = resolve;
      });
    }
    this.isSet = false;
    this.resolve = undefined;
  }

  close(): void {
    this.signal?.removeEventListener('abort', this.onAbort);
  }
}
