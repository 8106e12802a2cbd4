import { cacheStores, type Dispatcher, interceptors } from 'undici';

const MAX_ENTRIES = 1_000;
const MAX_BYTES = 32 * 1024 ** 2;
/** Of one answer; a longer one is an error in the caching client. */
export const MAX_CACHED_BODY = 2 * 1024 ** 2;

/** An HTTP cache in memory for GET (RFC 9111). */
export class CachedAnswers {
  private readonly store = new cacheStores.MemoryCacheStore({
    maxCount: MAX_ENTRIES,
    maxSize: MAX_BYTES,
    maxEntrySize: MAX_CACHED_BODY,
  });

  /** One more layer over a dispatcher. */
  readonly layer: Dispatcher.DispatcherComposeInterceptor = interceptors.cache({ store: this.store, methods: ['GET'] });

  /**
   * Until when (milliseconds of `Date.now()`) the answer to a GET is fresh: so long, what was made of it is as good as
   * asking again. 0 where no successful answer is kept, or it has to be revalidated at each use.
   */
  freshUntil(url: URL, headers: Record<string, string>): number {
    const found = this.store.get({ origin: url.origin, path: url.pathname + url.search, method: 'GET', headers });
    if (found === undefined || found instanceof Promise || found.statusCode !== 200) return 0;
    if (found.cacheControlDirectives?.['no-cache'] || found.staleAt <= found.cachedAt) return 0;
    return found.staleAt;
  }
}
