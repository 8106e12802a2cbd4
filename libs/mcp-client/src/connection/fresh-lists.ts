import { LRUCache } from 'lru-cache';
import type { ListedTools } from '../pins/tool-listing.js';

/** Milliseconds during which a list of tools counts as current. */
const FRESH_MS = 30_000;
/** Approximate memory for the lists of all servers, in bytes. A list without room is read again. */
const MOST_BYTES = 32 * 1024 * 1024;
const BYTES_OF_A_CHARACTER = 2;

/** Cache of the fresh lists of tools of all servers of this process. */
export class FreshLists {
  private readonly lists = new LRUCache<object, ListedTools>({
    ttl: FRESH_MS,
    ttlAutopurge: true,
    maxSize: MOST_BYTES,
    sizeCalculation: (list) => JSON.stringify(list).length * BYTES_OF_A_CHARACTER,
  });

  get(key: object): ListedTools | undefined {
    return this.lists.get(key);
  }

  set(key: object, list: ListedTools): void {
    this.lists.set(key, list);
  }

  delete(key: object): void {
    this.lists.delete(key);
  }
}
