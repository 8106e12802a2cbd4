import type { Commit } from './commit-log.js';

/** Bytes of events from which on a commit is worth to be shared. */
const LARGE = 64 * 1024;

/**
 * The large commits that somebody holds. Followers that read by themselves, at whatever time, hold one copy of each
 * together, with what was made of its events; here none is kept for longer than they do.
 */
export class SharedCommits {
  private readonly held = new Map<string, WeakRef<Commit>>();
  private readonly gone = new FinalizationRegistry((name: string) => this.forget(name));

  /** Number of commits that may be held. */
  get size(): number {
    return this.held.size;
  }

  /** Returns the copy that is held already of a commit that was read, else the commit. */
  of(commit: Commit): Commit {
    if (commit.bytes < LARGE) return commit;
    const name = `${commit.writer} ${commit.position}`;
    const known = this.held.get(name)?.deref();
    if (known) return known;
    this.held.set(name, new WeakRef(commit));
    this.gone.register(commit, name);
    return commit;
  }

  /** A commit of this name that was read again since is another one. */
  private forget(name: string): void {
    if (this.held.get(name)?.deref() === undefined) this.held.delete(name);
  }
}
