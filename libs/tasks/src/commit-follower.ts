import type { Commit } from './commit-log.js';

/** Maximum number of commits held for a slow follower; beyond it the follower reads the log itself. */
const MOST_HELD = 256;
const MOST_HELD_BYTES = 4 * 1024 * 1024;

/** Follower of commits. Commits that it has not taken yet are held, up to a limit or as a single commit. */
export class CommitFollower {
  private held: Commit[] = [];
  private bytes = 0;
  private live = false;
  private rung = false;
  private resolve: () => void = () => undefined;

  constructor(signal: AbortSignal) {
    signal.addEventListener('abort', () => this.wakeReader(), { once: true });
  }

  /** True if live commits are held for it; otherwise it reads the log. */
  get isLive(): boolean {
    return this.live;
  }

  /** Holds live commits from now on. */
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

  /** Takes the oldest held commit. */
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
