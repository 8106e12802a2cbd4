import { Inject, Injectable, type OnModuleDestroy, Optional } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { NO_KEY, ReplicaSignals, type SignalSubscription, type SignalTopic } from '#libs/postgres';
import { FREE, type WorkTurn } from '#libs/service';
import { type Commit, CommitLog, type CommitPosition, TASKS_COMMITTED } from './commit-log.js';

/** Maximum number of commits held for a slow follower; beyond it the follower reads the commit log itself. */
const MOST_HELD = 256;
/** Maximum bytes of events of the commits held for a slow follower; a single commit may be larger. */
const MOST_HELD_BYTES = 4 * 1024 * 1024;

/**
 * Follower of commits. Holds the commits that its reader has not taken yet: at most MOST_HELD commits with at most
 * MOST_HELD_BYTES, or a single larger commit.
 */
class CommitFollower {
  private held: Commit[] = [];
  private bytes = 0;
  private live = false;
  private rung = false;
  private resolve: () => void = () => undefined;

  constructor(signal: AbortSignal) {
    signal.addEventListener('abort', () => this.wakeReader(), { once: true });
  }

  /**
   * True if new commits are held for this follower. False if the follower has fallen behind; its reader then reads the
   * log.
   */
  get isLive(): boolean {
    return this.live;
  }

  /** Makes the follower live: new commits are held for its reader, instead of being left in the log. */
  startHolding(): void {
    this.live = true;
  }

  holdCommit(commit: Commit): void {
    if (!this.live) return;
    const isRoom = this.held.length < MOST_HELD && this.bytes + commit.bytes <= MOST_HELD_BYTES;
    if (isRoom || this.held.length === 0) {
      this.held.push(commit);
      this.bytes += commit.bytes;
    } else {
      this.held = [];
      this.bytes = 0;
      this.live = false;
    }
    this.wakeReader();
  }

  /** Takes the oldest held commit; `undefined` if none is held. */
  next(): Commit | undefined {
    const commit = this.held.shift();
    if (commit) this.bytes -= commit.bytes;
    return commit;
  }

  /** Resolves when a commit has arrived since the last call, or the signal has aborted. */
  async waitForCommit(): Promise<void> {
    if (!this.rung) await new Promise<void>((done) => (this.resolve = done));
    this.rung = false;
  }

  private wakeReader(): void {
    this.rung = true;
    this.resolve();
  }
}

/** Maximum bytes of all cached pages: of their events, and of the texts of the positions at which they begin. */
const MOST_BYTES = 4 * 1024 * 1024;
const MOST_PAGES = 64;
/** Maximum milliseconds after its read for which a cached page of commits is shared. */
const FRESH_MS = 5_000;

interface RecentPage {
  commits: Promise<Commit[]>;
  /** Bytes of the page; 0 until it has been read. */
  bytes: number;
  readAt: number;
}

/**
 * Most recently read pages of the commit log. Followers that begin at the same position, as after a restart, share a
 * page for FRESH_MS. A page never becomes wrong: at most it lacks later commits. Failed reads and pages without commits
 * are not kept.
 */
export class RecentPages {
  /** Pages by the position where they begin, as text, the oldest first. */
  private readonly pages = new Map<string, RecentPage>();
  private bytes = 0;

  constructor(private readonly now: () => number = () => performance.now()) {}

  /**
   * Returns the page at a position: a recent or running read, or a new read.
   * @param place text of the position
   */
  get(place: string, read: () => Promise<Commit[]>): Promise<Commit[]> {
    this.forgetOld();
    const known = this.pages.get(place);
    if (known) return known.commits;
    const page = { commits: read(), bytes: 0, readAt: this.now() };
    this.pages.set(place, page);
    page.commits.then(
      (commits) => this.keepPage(place, page, commits),
      () => this.forgetPage(place, page),
    );
    return page.commits;
  }

  private keepPage(place: string, page: RecentPage, commits: readonly Commit[]): void {
    if (this.pages.get(place) !== page) return;
    if (commits.length === 0) return this.forgetPage(place, page);
    page.bytes = commits.reduce((sum, { bytes }) => sum + bytes, place.length);
    this.bytes += page.bytes;
    this.forgetOld();
  }

  private forgetOld(): void {
    const oldest = this.now() - FRESH_MS;
    for (const [place, page] of this.pages) {
      if (page.readAt > oldest && this.pages.size <= MOST_PAGES && this.bytes <= MOST_BYTES) return;
      this.forgetPage(place, page);
    }
  }

  private forgetPage(place: string, page: RecentPage): void {
    if (this.pages.get(place) !== page) return;
    this.pages.delete(place);
    this.bytes -= page.bytes;
  }
}

/** Minimum size of a commit's events that followers share one copy of, in bytes. */
const LARGE = 64 * 1024;

/**
 * Large commits that followers hold. Followers that have fallen behind read the commit log separately, possibly at
 * different times; they share one copy of each commit and of everything derived from its events. A copy lives only as
 * long as a follower holds it.
 */
export class SharedCommits {
  private readonly held = new Map<string, WeakRef<Commit>>();
  private readonly gone = new FinalizationRegistry((name: string) => this.forgetCommit(name));

  /** Number of shared commits that have not been garbage-collected. */
  get size(): number {
    return this.held.size;
  }

  /**
   * Returns the shared copy of an equal commit. If there is none, returns the given commit, which is the shared copy
   * from now on if it is large.
   */
  shareCommit(commit: Commit): Commit {
    if (commit.bytes < LARGE) return commit;
    const name = `${commit.writer} ${commit.position}`;
    const known = this.held.get(name)?.deref();
    if (known) return known;
    this.held.set(name, new WeakRef(commit));
    this.gone.register(commit, name);
    return commit;
  }

  /** Forgets a commit that was garbage-collected, unless the same commit was read again since. */
  private forgetCommit(name: string): void {
    if (this.held.get(name)?.deref() === undefined) this.held.delete(name);
  }
}

/** Signal between replicas: the sending replica has committed events. */
const COMMITTED: SignalTopic = { name: 'committed', shards: 1 };

/** Injection token: milliseconds between polls of the commit log when no signal arrives, 1,000 by default. */
const COMMIT_POLL_MS = Symbol('COMMIT_POLL_MS');
const PAGE = 64;
/** Estimated time on the event loop for reading one commit, in milliseconds, in addition to the time for its bytes. */
const MS_PER_COMMIT = 0.05;
/** Estimated milliseconds of the event loop for each byte of a commit's events. */
const MS_PER_BYTE = 20e-6;

/**
 * Feed of the commits of all processes (TaskFeed follows the log of one Task). The cursor is a CommitPosition.
 * - The commit log is read once for all followers.
 * - A follower that falls behind reads on its own until it has caught up, and shares each page with followers at the
 *   same position (RecentPages).
 * - The memory of a follower is the commits that its CommitFollower holds, and the page that it reads: about a
 *   megabyte, or a single larger commit. Followers share one copy of a large commit (SharedCommits).
 * - A follower with a WorkTurn reads, and processes new commits, only while its caller may use the event loop.
 */
@Injectable()
export class CommitFeed implements OnModuleDestroy {
  private readonly followers = new Set<CommitFollower>();
  private readonly others: SignalSubscription | undefined;
  /**
   * Position up to which the commit log was read for the followers: a number for each writer. `undefined` until the
   * first follower starts. Followers that start before the position is known share one query for it.
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

  /** Signals a commit of this process to other replicas, and wakes the followers in this process. */
  @OnEvent(TASKS_COMMITTED)
  announceCommit(): void {
    this.signals?.sendSignal(COMMITTED, NO_KEY);
    if (this.followers.size > 0) this.requestRead();
  }

  /** Returns the position of the newest commits, and the time of the database's clock when it was read. */
  readPosition(): Promise<{ position: CommitPosition; at: Date }> {
    return this.log.readPosition();
  }

  /**
   * Yields every commit after a position exactly once; the commits of one Task come in order. Ends when the signal
   * aborts.
   */
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
   * Yields the commits that a follower has missed, page by page. Each page is yielded when the follower's caller may
   * use the event loop (`turn`). The time for reading a page is charged to that caller, unless another follower has
   * just read the page.
   */
  private readMissedPages(seen: CommitPosition, turn: WorkTurn, signal: AbortSignal): AsyncGenerator<Commit[]> {
    return this.readPages(seen, async (limit) => {
      await turn.awaitTurn(signal);
      let isOwn = false;
      const page = await this.recent.get([...seen].join(), () => {
        isOwn = true;
        return this.readAndCharge(seen, limit, turn);
      });
      // A query that began before this follower may miss commits that came since.
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
   * Ensures that `reached` is known: the position from which on new commits are held for followers. If the query fails,
   * the next call repeats it.
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

  /**
   * Reads the commit log to its end, and once more whenever a read was requested meanwhile. Never rejects: a failed
   * read is repeated at the next poll.
   */
  private async readOn(): Promise<void> {
    this.reading = true;
    try {
      while (this.behind && this.followers.size > 0) {
        this.behind = false;
        await this.readToEnd();
      }
    } catch {
      // The database is unreachable: the next poll reads again.
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

  /**
   * Yields the pages of commits after `after`, and ends when there are no more commits. The caller must advance `after`
   * past each page, since the next page begins there.
   */
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

/** Returns the approximate milliseconds of the event loop to read and process a page of commits. */
function costOf(page: readonly Commit[]): number {
  return page.reduce((sum, { bytes }) => sum + MS_PER_COMMIT + bytes * MS_PER_BYTE, 0);
}

/** Advances the reader's position `seen` past a commit. @returns false if the position was already past the commit */
function markSeen(seen: Map<string, bigint>, { writer, position }: Commit): boolean {
  if (position <= (seen.get(writer) ?? 0n)) return false;
  seen.set(writer, position);
  return true;
}
