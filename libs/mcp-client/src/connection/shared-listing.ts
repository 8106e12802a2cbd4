import type { ListedTools } from '../pins/tool-listing.js';
import type { FreshLists } from './fresh-lists.js';

/** Running read of a list. */
interface Listing {
  list: Promise<ListedTools>;
  readers: number;
  /** Aborts the read. */
  given: AbortController;
  /** True if the tools may have changed since the read began. */
  outdated: boolean;
}

/**
 * Reads the list of one server for all callers.
 * - At most one read runs at a time.
 * - The read is aborted when its last reader leaves.
 */
export class SharedListing {
  private running: Listing | undefined;

  /** @param list reads the whole list, until the signal aborts */
  constructor(
    private readonly list: (signal: AbortSignal) => Promise<ListedTools>,
    private readonly fresh: FreshLists,
  ) {}

  /**
   * Returns a fresh list; with `refresh`, one whose read begins after this call.
   * @throws the signal's reason; the reason why the list cannot be read
   */
  async readShared(signal: AbortSignal, refresh: boolean): Promise<ListedTools> {
    const fresh = refresh ? undefined : this.fresh.get(this);
    if (fresh) return fresh;
    if (refresh && this.running) await awaitShared(awaitListing(this.running), signal);
    return this.joinListing(this.running ?? this.startListing(), signal);
  }

  /** Discards the cached list, as the server's tools may have changed. */
  markOutdated(): void {
    this.fresh.delete(this);
    if (this.running) this.running.outdated = true;
  }

  private async joinListing(listing: Listing, signal: AbortSignal): Promise<ListedTools> {
    listing.readers += 1;
    try {
      return await awaitShared(listing.list, signal);
    } finally {
      listing.readers -= 1;
      if (listing.readers === 0) this.abandonListing(listing);
    }
  }

  private startListing(): Listing {
    const given = new AbortController();
    const listing: Listing = { list: this.list(given.signal), readers: 0, given, outdated: false };
    this.running = listing;
    void listing.list.then(
      (list) => {
        this.forgetListing(listing);
        if (!listing.outdated) this.fresh.set(this, list);
      },
      () => this.forgetListing(listing),
    );
    return listing;
  }

  private abandonListing(listing: Listing): void {
    this.forgetListing(listing);
    listing.given.abort(new Error('Nobody waits for the list of tools any more'));
  }

  private forgetListing(listing: Listing): void {
    if (this.running === listing) this.running = undefined;
  }
}

async function awaitListing({ list }: Listing): Promise<void> {
  await list.catch(() => undefined);
}

/** Awaits a shared promise. Rejects with the signal's reason if the signal aborts first; the shared work continues. */
export async function awaitShared<T>(shared: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return shared;
  // Avoids an unhandled rejection after all callers have left.
  shared.catch(() => undefined);
  signal.throwIfAborted();
  const gone = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true, signal: gone.signal });
  });
  return Promise.race([shared, aborted]).finally(() => gone.abort());
}
