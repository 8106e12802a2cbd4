import type { Commit } from './commit-log.js';

/** Maximum bytes of kept events and places. */
const MOST_BYTES = 4 * 1024 * 1024;
const MOST_PAGES = 64;
/** Milliseconds for which a page may be shared. */
const FRESH_MS = 5_000;

interface RecentPage {
  commits: Promise<Commit[]>;
  /** Bytes of the page; 0 until it has been read. */
  bytes: number;
  readAt: number;
}

/**
 * Most recently read pages of the log. Followers that begin at the same place, as after a restart, share them. A page
 * stays valid for followers at its place: at most it misses later commits. Pages without commits are not kept, since
 * the end of the log must be read again, nor are failed reads.
 */
export class RecentPages {
  /** Pages by the place where they begin, the oldest first. */
  private readonly pages = new Map<string, RecentPage>();
  private bytes = 0;

  constructor(private readonly now: () => number = () => performance.now()) {}

  /**
   * Returns the page at a place: a recent or running read, or a new one.
   * @param place text of a position
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
