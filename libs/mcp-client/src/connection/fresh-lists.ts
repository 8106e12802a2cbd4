import { LRUCache } from 'lru-cache';
import type { ListedTools } from '../pins/tool-listing.js';

/** Time in which a list of tools counts as current. */
const FRESH_MS = 30_000;
/** Bytes that the lists of all servers may take together, about: a server that is left out is asked again. */
const MOST_BYTES = 32 * 1024 * 1024;
const BYTES_OF_A_CHARACTER = 2;

/** The lists of tools of all servers of this process that are fresh. */
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
