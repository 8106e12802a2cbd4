import { cacheStores, type Dispatcher, interceptors } from 'undici';

const MAX_ENTRIES = 1_000;
const MAX_BYTES = 32 * 1024 ** 2;
const MAX_ENTRY_BYTES = 2 * 1024 ** 2;

/** An HTTP cache in memory for GET (RFC 9111), as one more layer over a dispatcher. */
export function cachedAnswers(): Dispatcher.DispatcherComposeInterceptor {
  const store = new cacheStores.MemoryCacheStore({
    maxCount: MAX_ENTRIES,
    maxSize: MAX_BYTES,
    maxEntrySize: MAX_ENTRY_BYTES,
  });
  return interceptors.cache({ store, methods: ['GET'] });
}
