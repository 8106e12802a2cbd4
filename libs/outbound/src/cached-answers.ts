import { cacheStores, type Dispatcher, interceptors } from 'undici';

const MAX_ENTRIES = 1_000;
const MAX_BYTES = 32 * 1024 ** 2;
/** Maximum number of bytes of one answer; a longer one is an error in the caching client. */
export const MAX_CACHED_BODY = 2 * 1024 ** 2;

/** HTTP cache in memory, for GET (RFC 9111). */
export class CachedAnswers {
  private readonly store = new cacheStores.MemoryCacheStore({
    maxCount: MAX_ENTRIES,
    maxSize: MAX_BYTES,
    maxEntrySize: MAX_CACHED_BODY,
  });

  /** Dispatcher layer that adds the cache. */
  readonly layer: Dispatcher.DispatcherComposeInterceptor = interceptors.cache({ store: this.store, methods: ['GET'] });

  /**
   * Returns until when (`Date.now()` milliseconds) the cached answer to a GET is fresh; values derived from it need no
   * new request until then. Returns 0 if no successful answer is cached, or it must be revalidated at each use.
   */
  freshUntil(url: URL, headers: Record<string, string>): number {
    const found = this.store.get({ origin: url.origin, path: url.pathname + url.search, method: 'GET', headers });
    if (found === undefined || found instanceof Promise || found.statusCode !== 200) return 0;
    if (found.cacheControlDirectives?.['no-cache'] || found.staleAt <= found.cachedAt) return 0;
    return found.staleAt;
  }
}
