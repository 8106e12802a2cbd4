import type { Commit } from './commit-log.js';

/** Minimum bytes of events of a commit that is worth sharing. */
const LARGE = 64 * 1024;

/**
 * Large commits that followers hold. Followers that read on their own, at any time, share one copy of each with
 * everything derived from its events. A copy lives only as long as a follower holds it.
 */
export class SharedCommits {
  private readonly held = new Map<string, WeakRef<Commit>>();
  private readonly gone = new FinalizationRegistry((name: string) => this.forgetCommit(name));

  /** Number of commits that may be held. */
  get size(): number {
    return this.held.size;
  }

  /** Returns the existing copy of a commit, or the commit itself. */
  shareCommit(commit: Commit): Commit {
    if (commit.bytes < LARGE) return commit;
    const name = `${commit.writer} ${commit.position}`;
    const known = this.held.get(name)?.deref();
    if (known) return known;
    this.held.set(name, new WeakRef(commit));
    this.gone.register(commit, name);
    return commit;
  }

  /** Forgets a collected commit, unless the same commit was read again since. */
  private forgetCommit(name: string): void {
    if (this.held.get(name)?.deref() === undefined) this.held.delete(name);
  }
}
