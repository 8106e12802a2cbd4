import type { Commit } from './commit-log.js';

/** What is held for a follower that is slower than commits come; beyond that it reads the log by itself. */
const MOST_HELD = 256;
const MOST_HELD_BYTES = 4 * 1024 * 1024;

/** One that follows what is committed: what it has not taken yet is held for it, up to a bound or as a single commit. */
export class CommitFollower {
  private held: Commit[] = [];
  private bytes = 0;
  private live = false;
  private rung = false;
  private resolve: () => void = () => undefined;

  constructor(signal: AbortSignal) {
    signal.addEventListener('abort', () => this.wake(), { once: true });
  }

  /** Whether it takes what comes; else it reads the log. */
  get isLive(): boolean {
    return this.live;
  }

  /** From now on what comes is held. */
  begin(): void {
    this.live = true;
  }

  hold(commit: Commit): void {
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
    this.wake();
  }

  /** Takes the oldest that is held. */
  next(): Commit | undefined {
    const commit = this.held.shift();
    if (commit) this.bytes -= commit.bytes;
    return commit;
  }

  /** Resolves when something came since the last time, or the signal has aborted. */
  async woken(): Promise<void> {
    if (!this.rung) await new Promise<void>((done) => (this.resolve = done));
    this.rung = false;
  }

  private wake(): void {
    this.rung = true;
    this.resolve();
  }
}
