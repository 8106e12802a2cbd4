import { Inject, Injectable, type OnModuleDestroy, Optional } from '@nestjs/common';
import { ReplicaSignals, type SignalSubscription, type SignalTopic } from '#libs/postgres';
import { ShortLivedMap } from '#libs/service';
import type { RecordedEvent } from '../fold/task-event.js';
import { type TaskScope, TaskStore } from '../store/task-store.js';
import { type FollowedLogs, type FollowUntil, RecentEvents, TaskFollower } from './task-follower.js';

export interface FollowOptions {
  /** Ends the stream without an error. */
  signal?: AbortSignal;
  /**
   * End of the stream. `terminal` (the default): when the Task ends. `waiting`: also when the Task waits for its
   * caller.
   */
  until?: FollowUntil;
  /** Caller whose readers take turns with those of others. */
  reader?: TaskScope;
}

/** Signal that events were committed to the log of a Task; the key is its id. */
export const TASK_PROGRESS: SignalTopic = { name: 'task_progress', shards: 16 };

/** Injection token: milliseconds between checks of Tasks that another replica executes, 1,000 by default. */
export const FEED_POLL_MS = Symbol('FEED_POLL_MS');

/**
 * Feed of the logs of single Tasks.
 * - A follower gets every event after its sequence exactly once and in order, first from the store, then as it is
 *   committed.
 * - A follower never slows the Task down. Events that it has not taken stay in the log, so a slow reader costs no
 *   memory.
 * - While the database is unreachable, followers wait.
 * - Commits of this process wake followers immediately. A signal reports commits of others; it may be lost, so the
 *   store is also checked every second. Signals are received only for followed Tasks that are not executed here.
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

  /** Reports committed events of one Task to followers, here and at other replicas. Only recordings call it. */
  publishEvents(events: readonly RecordedEvent[]): void {
    this.recent.add(events);
    const taskId = events[0]?.taskId;
    if (taskId === undefined) return;
    this.wakeFollowers(taskId);
    this.signals?.sendSignal(TASK_PROGRESS, taskId);
  }

  /**
   * Registers that this process writes the Task from now on, whose log ends at the sequence. Followers at that place
   * need no query. Only recordings call it; they also report the end of that.
   */
  openTask(taskId: string, lastSequence: number): void {
    this.recent.openTail(taskId, lastSequence);
    // Its followers may not have received signals about earlier events of other replicas.
    this.wakeFollowers(taskId);
  }

  /** Registers that another process writes the Task from now on. Only recordings call it. */
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
   * Opens a follower for a reader that takes pages and is woken when there are more. While it waits, it holds no other
   * memory. The reader must close it.
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
   * Wakes followers that are behind, in case a signal was lost: one query for all followed Tasks that other replicas
   * may be writing.
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

/** Reader that waits for a wake-up; an earlier wake-up ends the wait immediately. */
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
