import { Inject, Injectable, type OnModuleDestroy, Optional } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { FREE, type WorkTurn } from '#libs/service';
import { NO_KEY, ReplicaSignals, type SignalSubscription, type SignalTopic } from '#libs/postgres';
import { CommitFollower } from './commit-follower.js';
import { type Commit, CommitLog, type CommitPosition } from './commit-log.js';
import { RecentPages } from './recent-pages.js';
import { SharedCommits } from './shared-commits.js';
import { TASKS_COMMITTED } from './tasks-committed.js';

/** Signal that a replica has committed something. */
const COMMITTED: SignalTopic = { name: 'committed', shards: 1 };

/** Injection token: milliseconds between reads of the log without a signal, 1,000 by default. */
export const COMMIT_POLL_MS = Symbol('COMMIT_POLL_MS');
const PAGE = 64;
/** Milliseconds of the event loop to read a commit, and each byte of its events. */
const MS_PER_COMMIT = 0.05;
const MS_PER_BYTE = 20e-6;

/**
 * Feed of the commits of all processes.
 * - The log is read once for all followers.
 * - A follower that falls behind reads on its own until it has caught up, and shares each page with followers that were
 *   at the same place (RecentPages). It costs what CommitFollower holds, and the page that it reads: about a megabyte,
 *   or a single commit. Readers of a large commit share one copy (SharedCommits).
 * - A follower with a WorkTurn reads, and processes new commits, in its caller's turns on the event loop.
 */
@Injectable()
export class CommitFeed implements OnModuleDestroy {
  private readonly followers = new Set<CommitFollower>();
  private readonly others: SignalSubscription | undefined;
  /**
   * Position up to which the log was read for the followers. Followers that start before the lookup is answered share
   * it.
   */
  private reached: Promise<Map<string, bigint>> | undefined;
  private poll: NodeJS.Timeout | undefined;
  private readonly recent = new RecentPages();
  private readonly shared = new SharedCommits();
  private reading = false;
  private behind = false;

  /** @param signals absent if no other process uses the same store */
  constructor(
    private readonly log: CommitLog,
    @Optional() private readonly signals?: ReplicaSignals,
    @Optional() @Inject(COMMIT_POLL_MS) private readonly pollMs = 1000,
  ) {
    const readAgain = (): void => this.requestRead();
    this.others = signals?.subscribeTopic(COMMITTED, { wakeFor: readAgain, catchUp: readAgain });
  }

  /** Signals a commit of this process and wakes the followers here. */
  @OnEvent(TASKS_COMMITTED)
  announceCommit(): void {
    this.signals?.sendSignal(COMMITTED, NO_KEY);
    if (this.followers.size > 0) this.requestRead();
  }

  /** Returns the position that everything committed so far lies before, and the database's time of it. */
  readPosition(): Promise<{ position: CommitPosition; at: Date }> {
    return this.log.readPosition();
  }

  /** Yields every commit after a position exactly once, those of one Task in order. Ends when the signal aborts. */
  async *followCommits(after: CommitPosition, signal: AbortSignal, turn: WorkTurn = FREE): AsyncGenerator<Commit> {
    const seen = new Map(after);
    const follower = new CommitFollower(signal);
    this.addFollower(follower);
    try {
      while (!signal.aborted) {
        // Commits are held from now on, so that none is lost between the last page and the live commits.
        follower.startHolding();
        await this.ensureStartKnown();
        for await (const page of this.readMissedPages(seen, turn, signal)) {
          for (const commit of page) if (markSeen(seen, commit)) yield commit;
          if (signal.aborted) return;
        }
        for (let ofTurn = 0; follower.isLive && !signal.aborted; ofTurn += 1) {
          if (ofTurn % PAGE === 0) await turn.awaitTurn(signal);
          const commit = follower.next();
          if (commit) {
            if (markSeen(seen, commit)) yield commit;
          } else {
            await follower.waitForCommit();
            ofTurn = -1;
          }
        }
      }
    } finally {
      this.removeFollower(follower);
    }
  }

  onModuleDestroy(): void {
    clearInterval(this.poll);
  }

  /**
   * Yields what a follower has missed, page by page in its caller's turns. The caller is charged for pages that no
   * other follower has just read.
   */
  private readMissedPages(seen: CommitPosition, turn: WorkTurn, signal: AbortSignal): AsyncGenerator<Commit[]> {
    return this.readPages(seen, async (limit) => {
      await turn.awaitTurn(signal);
      let isOwn = false;
      const page = await this.recent.get([...seen].join(), () => {
        isOwn = true;
        return this.readAndCharge(seen, limit, turn);
      });
      // A query from before this follower started may miss commits that came since.
      return page.length > 0 || isOwn ? page : this.readAndCharge(seen, limit, turn);
    });
  }

  private async readAndCharge(after: CommitPosition, limit: number, turn: WorkTurn): Promise<Commit[]> {
    const page = await this.readLog(after, limit);
    turn.chargeTime(costOf(page));
    return page;
  }

  private async readLog(after: CommitPosition, limit: number): Promise<Commit[]> {
    return (await this.log.readCommits(after, limit)).map((commit) => this.shared.shareCommit(commit));
  }

  private addFollower(follower: CommitFollower): void {
    this.followers.add(follower);
    if (this.followers.size > 1) return;
    this.others?.watchKey(NO_KEY);
    this.poll = setInterval(() => this.requestRead(), this.pollMs).unref();
  }

  /**
   * Ensures that the start position is known, from which commits are held for followers. A failed lookup is not kept.
   */
  private async ensureStartKnown(): Promise<void> {
    const reached = (this.reached ??= this.log.readPosition().then(({ position }) => new Map(position)));
    try {
      await reached;
    } catch (error) {
      if (this.reached === reached) this.reached = undefined;
      throw error;
    }
  }

  private removeFollower(follower: CommitFollower): void {
    this.followers.delete(follower);
    if (this.followers.size > 0) return;
    this.others?.unwatchKey(NO_KEY);
    clearInterval(this.poll);
    this.reached = undefined;
  }

  private requestRead(): void {
    this.behind = true;
    if (!this.reading) void this.readOn();
  }

  /** Reads while there is more to read. Never rejects: a failed read is repeated at the next look. */
  private async readOn(): Promise<void> {
    this.reading = true;
    try {
      while (this.behind && this.followers.size > 0) {
        this.behind = false;
        await this.readToEnd();
      }
    } catch {
      // The database is unreachable: the poll looks again.
    } finally {
      this.reading = false;
    }
  }

  private async readToEnd(): Promise<void> {
    const reached = await this.reached;
    if (!reached) return;
    for await (const page of this.readPages(reached)) {
      for (const commit of page) {
        reached.set(commit.writer, commit.position);
        for (const follower of this.followers) follower.holdCommit(commit);
      }
    }
  }

  /** Yields the pages after a position until there are no more. The reader must advance the position. */
  private async *readPages(
    after: CommitPosition,
    read = (limit: number) => this.readLog(after, limit),
  ): AsyncGenerator<Commit[]> {
    for (let limit = PAGE; ;) {
      const page = await read(limit);
      if (page.length === 0) return;
      yield page;
      // A page holds few large commits: request at most twice as many as the last page held.
      limit = Math.min(2 * page.length, PAGE);
    }
  }
}

/** Returns the approximate milliseconds of the event loop to read and process a page. */
function costOf(page: readonly Commit[]): number {
  return page.reduce((sum, { bytes }) => sum + MS_PER_COMMIT + bytes * MS_PER_BYTE, 0);
}

/** Marks a commit as seen. @returns false if it was already */
function markSeen(seen: Map<string, bigint>, { writer, position }: Commit): boolean {
  if (position <= (seen.get(writer) ?? 0n)) return false;
  seen.set(writer, position);
  return true;
}
