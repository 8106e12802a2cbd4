import { Inject, Injectable, type OnModuleDestroy, Optional } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { NO_KEY, ReplicaSignals, type SignalSubscription, type SignalTopic } from '#libs/postgres';
import { type Commit, CommitLog, type CommitPosition } from './commit-log.js';
import { TASKS_COMMITTED } from './tasks-committed.js';

/** Something was committed, whatever it was. */
const COMMITTED: SignalTopic = { name: 'committed', shards: 1 };

/** Injected in milliseconds: how often the log is asked for what no signal told of, default 1,000. */
export const COMMIT_POLL_MS = Symbol('COMMIT_POLL_MS');
const PAGE = 64;
/** Commits that are held for a follower which is slower than they come; beyond that it reads the log by itself. */
const MAX_HELD = 256;

interface Follower {
  held: Commit[];
  /** Whether it takes what comes; else it reads the log. */
  live: boolean;
  wake(): void;
}

/**
 * Everything that is committed, by any process, as it comes. However many follow, the log is read once for all of them;
 * a follower that falls behind reads by itself until it has caught up, so a slow one costs no memory and disturbs nobody.
 */
@Injectable()
export class CommitFeed implements OnModuleDestroy {
  private readonly followers = new Set<Follower>();
  private readonly others: SignalSubscription | undefined;
  /** How far the log was read for those who follow; one look for all that begin before it is answered. */
  private reached: Promise<Map<string, bigint>> | undefined;
  private poll: NodeJS.Timeout | undefined;
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
  async *follow(after: CommitPosition, signal: AbortSignal): AsyncGenerator<Commit> {
    const seen = new Map(after);
    const { follower, woken } = newFollower(signal);
    this.register(follower);
    try {
      while (!signal.aborted) {
        // Held from now on, so that nothing can fall between the last page and what comes.
        follower.live = true;
        await this.begun();
        for (let page = await this.log.read(seen, PAGE); page.length > 0; page = await this.log.read(seen, PAGE)) {
          for (const commit of page) if (take(seen, commit)) yield commit;
          if (signal.aborted) return;
        }
        while (follower.live && !signal.aborted) {
          const { held } = follower;
          follower.held = [];
          for (const commit of held) if (take(seen, commit)) yield commit;
          if (follower.held.length === 0 && follower.live) await woken();
        }
      }
    } finally {
      this.unregister(follower);
    }
  }

  onModuleDestroy(): void {
    clearInterval(this.poll);
  }

  private register(follower: Follower): void {
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

  private unregister(follower: Follower): void {
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
    for (let page = await this.log.read(reached, PAGE); page.length > 0; page = await this.log.read(reached, PAGE)) {
      for (const commit of page) {
        reached.set(commit.writer, commit.position);
        for (const follower of this.followers) hold(follower, commit);
      }
    }
  }
}

function newFollower(signal: AbortSignal): { follower: Follower; woken: () => Promise<void> } {
  let rung = false;
  let resolve: () => void = () => undefined;
  const wake = (): void => {
    rung = true;
    resolve();
  };
  signal.addEventListener('abort', wake, { once: true });
  const woken = async (): Promise<void> => {
    if (!rung) await new Promise<void>((done) => (resolve = done));
    rung = false;
  };
  return { follower: { held: [], live: false, wake }, woken };
}

function hold(follower: Follower, commit: Commit): void {
  if (!follower.live) return;
  if (follower.held.length < MAX_HELD) follower.held.push(commit);
  else {
    follower.held = [];
    follower.live = false;
  }
  follower.wake();
}

/** Whether it has not been seen yet. */
function take(seen: Map<string, bigint>, { writer, position }: Commit): boolean {
  if (position <= (seen.get(writer) ?? 0n)) return false;
  seen.set(writer, position);
  return true;
}
