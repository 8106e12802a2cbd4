import { getHeapStatistics } from 'node:v8';
import { LRUCache } from 'lru-cache';

/** A value and its weight in bytes of the heap. */
export interface Weighed<T> {
  value: T;
  weight: number;
}

/** Share of the heap that the values of one cache may use. */
const SHARE = 1 / 16;

/**
 * Cache of one value for each tenant.
 * - A value is valid for one version of the tenant's data.
 * - All tenants share one size limit; the least recently used values are evicted first.
 * - Concurrent misses of the same value share one read.
 */
export class VersionedCache<T extends object> {
  private readonly kept: LRUCache<string, { version: string; value: T }>;
  private readonly reading = new Map<string, { version: string; value: Promise<T> }>();

  /** @param most bytes of the heap */
  constructor(most = Math.floor(getHeapStatistics().heap_size_limit * SHARE)) {
    this.kept = new LRUCache({ maxSize: most });
  }

  async get(tenant: string, version: string, read: () => Promise<Weighed<T>>): Promise<T> {
    const found = this.kept.get(tenant);
    if (found?.version === version) return found.value;
    const underWay = this.reading.get(tenant);
    if (underWay?.version === version) return underWay.value;
    const value = this.readAndStore(tenant, version, read);
    const own = { version, value };
    this.reading.set(tenant, own);
    try {
      return await value;
    } finally {
      if (this.reading.get(tenant) === own) this.reading.delete(tenant);
    }
  }

  private async readAndStore(tenant: string, version: string, read: () => Promise<Weighed<T>>): Promise<T> {
    const { value, weight } = await read();
    this.kept.set(tenant, { version, value }, { size: Math.max(1, Math.ceil(weight)) });
    return value;
  }
}
