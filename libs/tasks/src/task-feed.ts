import { Inject, Injectable, type OnModuleDestroy, Optional } from '@nestjs/common';
import { ReplicaSignals, type SignalSubscription, type SignalTopic } from '#libs/postgres';
import { PassingMap } from '#libs/service';
import { RecentEvents } from './recent-events.js';
import type { RecordedEvent } from './task-event.js';
import { type FollowedLogs, type FollowUntil, TaskFollower } from './task-follower.js';
import { type TaskScope, TaskStore } from './task-store.js';

export interface FollowOptions {
  /** Ends the stream without an error. */
  signal?: AbortSignal;
  /** `terminal` (the default): ends with the Task. `waiting`: ends also when the Task waits for its caller. */
  until?: FollowUntil;
  /** The caller who reads, where many readers of a caller are to take turns with those of others. */
  reader?: TaskScope;
}

/** Something was committed to the log of a Task; the key is its id. */
export const TASK_PROGRESS: SignalTopic = { name: 'task_progress', shards: 16 };

/** Injected in milliseconds: how often the store is asked about Tasks that another replica executes, default 1,000. */
export const FEED_POLL_MS = Symbol('FEED_POLL_MS');

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
  private readonly followers = new PassingMap<Set<TaskFollower>>();
  private readonly logs: FollowedLogs;
  private poll: NodeJS.Timeout | undefined;

  /** @param signals absent where no other process has the same store */
  constructor(
    private readonly store: TaskStore,
    @Optional() private readonly signals?: ReplicaSignals,
    @Optional() @Inject(FEED_POLL_MS) private readonly pollMs = 1000,
  ) {
    const others: SignalSubscription | undefined = signals?.subscribe(TASK_PROGRESS, {
      wake: (taskId) => this.wake(taskId),
      catchUp: () => void this.wakeBehind(),
    });
    this.logs = { store, recent: this.recent, others, unregister: (follower) => this.unregister(follower) };
  }

  /** Tells followers, here and at other replicas, of committed events of one Task. Called by recordings alone. */
  publish(events: readonly RecordedEvent[]): void {
    this.recent.add(events);
    const taskId = events[0]?.taskId;
    if (taskId === undefined) return;
    this.wake(taskId);
    this.signals?.send(TASK_PROGRESS, taskId);
  }

  /**
   * This process writes the Task from now on, whose log ends at the sequence: who follows it from there needs no query.
   * Called by recordings alone, which tell as well when that is over.
   */
  begun(taskId: string, lastSequence: number): void {
    this.recent.begin(taskId, lastSequence);
    // Who follows it heard of what came before from others, if at all.
    this.wake(taskId);
  }

  /** The Task is written elsewhere from now on. Called by recordings alone. */
  lost(taskId: string): void {
    this.recent.close(taskId);
    this.wake(taskId);
  }

  /** The events of a Task after a sequence; see FollowOptions for where it ends. An unknown Task has no events. */
  async *follow(taskId: string, afterSequence: number, options: FollowOptions = {}): AsyncGenerator<RecordedEvent> {
    const { signal, until, reader: scope } = options;
    if (signal?.aborted) return;
    const follower = this.open(taskId, afterSequence, until, scope);
    const reader = new WaitingReader();
    follower.reader = reader;
    const leave = (): void => follower.close();
    signal?.addEventListener('abort', leave);
    try {
      for (let events = await follower.read(); events; events = await follower.read()) {
        for (const recorded of events) {
          yield recorded;
          if (signal?.aborted) return;
        }
        if (events.length === 0) await reader.wait();
      }
    } finally {
      signal?.removeEventListener('abort', leave);
      follower.close();
    }
  }

  /**
   * The same for a reader that takes pages and is woken when there are more, so that it keeps nothing else while it
   * waits. It has to be closed.
   */
  open(taskId: string, afterSequence: number, until: FollowUntil = 'terminal', scope?: TaskScope): TaskFollower {
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

  private wake(taskId: string): void {
    for (const follower of this.followers.get(taskId) ?? []) follower.wake();
  }

  private unregister(follower: TaskFollower): void {
    const { taskId } = follower;
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
      for (const follower of this.followers.get(taskId) ?? []) follower.wakeBefore(sequence);
    }
  }
}

/** A reader that waits itself; one that is woken before is not to wait. */
class WaitingReader {
  private isWoken = false;
  private resolve: (() => void) | undefined;

  wake(): void {
    this.isWoken = true;
    this.resolve?.();
  }

  async wait(): Promise<void> {
    if (!this.isWoken) {
      await new Promise<void>((resolve) => {
        this.resolve = resolve;
      });
    }
    this.isWoken = false;
    this.resolve = undefined;
  }
}
