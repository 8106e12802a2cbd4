import { Inject, Injectable, type OnModuleDestroy, Optional } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { FREE, type WorkTurn } from '#libs/service';
import { NO_KEY, ReplicaSignals, type SignalSubscription, type SignalTopic } from '#libs/postgres';
import { CommitFollower } from './commit-follower.js';
import { type Commit, CommitLog, type CommitPosition } from './commit-log.js';
import { RecentPages } from './recent-pages.js';
import { SharedCommits } from './shared-commits.js';
import { TASKS_COMMITTED } from './tasks-committed.js';

/** Something was committed, whatever it was. */
const COMMITTED: SignalTopic = { name: 'committed', shards: 1 };

/** Injected in milliseconds: how often the log is asked for what no signal told of, default 1,000. */
export const COMMIT_POLL_MS = Symbol('COMMIT_POLL_MS');
const PAGE = 64;
/** Milliseconds of the event loop that it takes to read a commit, and each byte of its events. */
const MS_PER_COMMIT = 0.05;
const MS_PER_BYTE = 20e-6;

/**
 * Everything that is committed, by any process, as it comes.
 *
 * - However many follow, the log is read once for all of them.
 * - A follower that falls behind reads by itself until it has caught up, and shares each page with those that have just
 *   stood at its place (RecentPages). It costs what CommitFollower holds and the page that it reads: about a megabyte, or
 *   a single commit, of which all that read it hold one copy (SharedCommits).
 * - A follower with a WorkTurn reads, and goes through what has come, in its caller's turns on the event loop.
 */
@Injectable()
export class CommitFeed implements OnModuleDestroy {
  private readonly followers = new Set<CommitFollower>();
  private readonly others: SignalSubscription | undefined;
  /** How far the log was read for those who follow; one look for all that begin before it is answered. */
  private reached: Promise<Map<string, bigint>> | undefined;
  private poll: NodeJS.Timeout | undefined;
  private readonly recent = new RecentPages();
  private readonly shared = new SharedCommits();
  private reading = false;
  private behind = false;

  /** @param signals absent where no other process has the same store */
  constructor(
    private readonly log: CommitLog,
    @Optional() private readonly signals?: ReplicaSignals,
    @Optional() @Inject(COMMIT_POLL_MS) private readonly pollMs = 1000,
  ) {
    const look = (): void => this.look();
    this.others = signals?.subscribe(COMMITTED, { wake: look, catchUp: look });
  }

  /** This process has committed something. */
  @OnEvent(TASKS_COMMITTED)
  committed(): void {
    this.signals?.send(COMMITTED, NO_KEY);
    if (this.followers.size > 0) this.look();
  }

  /** The position before which everything is that was committed until now, and the database's time of it. */
  position(): Promise<{ position: CommitPosition; at: Date }> {
    return this.log.position();
  }

  /** Every commit after a position exactly once, those of one Task in order; ends when the signal aborts. */
  async *follow(after: CommitPosition, signal: AbortSignal, turn: WorkTurn = FREE): AsyncGenerator<Commit> {
    const seen = new Map(after);
    const follower = new CommitFollower(signal);
    this.register(follower);
    try {
      while (!signal.aborted) {
        // Held from now on, so that nothing can fall between the last page and what comes.
        follower.begin();
        await this.begun();
        for await (const page of this.missed(seen, turn, signal)) {
          for (const commit of page) if (take(seen, commit)) yield commit;
          if (signal.aborted) return;
        }
        for (let ofTurn = 0; follower.isLive && !signal.aborted; ofTurn += 1) {
          if (ofTurn % PAGE === 0) await turn.next(signal);
          const commit = follower.next();
          if (commit) {
            if (take(seen, commit)) yield commit;
          } else {
            await follower.woken();
            ofTurn = -1;
          }
        }
      }
    } finally {
      this.unregister(follower);
    }
  }

  onModuleDestroy(): void {
    clearInterval(this.poll);
  }

  /** What a follower has missed, page by page in its caller's turns, who is charged with what nobody else has just read. */
  private missed(seen: CommitPosition, turn: WorkTurn, signal: AbortSignal): AsyncGenerator<Commit[]> {
    return this.pages(seen, async (limit) => {
      await turn.next(signal);
      let isOwn = false;
      const page = await this.recent.get([...seen].join(), () => {
        isOwn = true;
        return this.read(seen, limit, turn);
      });
      // What was asked before this follower began may have ended before what came then.
      return page.length > 0 || isOwn ? page : this.read(seen, limit, turn);
    });
  }

  private async read(after: CommitPosition, limit: number, turn: WorkTurn): Promise<Commit[]> {
    const page = await this.readLog(after, limit);
    turn.charge(costOf(page));
    return page;
  }

  private async readLog(after: CommitPosition, limit: number): Promise<Commit[]> {
    return (await this.log.read(after, limit)).map((commit) => this.shared.of(commit));
  }

  private register(follower: CommitFollower): void {
    this.followers.add(follower);
    if (this.followers.size > 1) return;
    this.others?.watch(NO_KEY);
    this.poll = setInterval(() => this.look(), this.pollMs).unref();
  }

  /** From here on everything that is committed is held for those who follow. A look that fails is not kept. */
  private async begun(): Promise<void> {
    const reached = (this.reached ??= this.log.position().then(({ position }) => new Map(position)));
    try {
      await reached;
    } catch (error) {
      if (this.reached === reached) this.reached = undefined;
      throw error;
    }
  }

  private unregister(follower: CommitFollower): void {
    this.followers.delete(follower);
    if (this.followers.size > 0) return;
    this.others?.unwatch(NO_KEY);
    clearInterval(this.poll);
    this.reached = undefined;
  }

  private look(): void {
    this.behind = true;
    if (!this.reading) void this.readOn();
  }

  /** Never rejects: what could not be read is read at the next look. */
  private async readOn(): Promise<void> {
    this.reading = true;
    try {
      while (this.behind && this.followers.size > 0) {
        this.behind = false;
        await this.readToEnd();
      }
    } catch {
      // The database is out of reach: the poll looks again.
    } finally {
      this.reading = false;
    }
  }

  private async readToEnd(): Promise<void> {
    const reached = await this.reached;
    if (!reached) return;
    for await (const page of this.pages(reached)) {
      for (const commit of page) {
        reached.set(commit.writer, commit.position);
        for (const follower of this.followers) follower.hold(commit);
      }
    }
  }

  /** What comes after a position, which whoever reads them moves, until there is nothing more at present. */
  private async *pages(
    after: CommitPosition,
    read = (limit: number) => this.readLog(after, limit),
  ): AsyncGenerator<Commit[]> {
    for (let limit = PAGE; ;) {
      const page = await read(limit);
      if (page.length === 0) return;
      yield page;
      // Of large commits a page takes few: no more are looked for in vain than it took.
      limit = Math.min(2 * page.length, PAGE);
    }
  }
}

/** Returns about how many milliseconds of the event loop it takes to read a page and to look through it. */
function costOf(page: readonly Commit[]): number {
  return page.reduce((sum, { bytes }) => sum + MS_PER_COMMIT + bytes * MS_PER_BYTE, 0);
}

/** Whether it has not been seen yet. */
function take(seen: Map<string, bigint>, { writer, position }: Commit): boolean {
  if (position <= (seen.get(writer) ?? 0n)) return false;
  seen.set(writer, position);
  return true;
}
