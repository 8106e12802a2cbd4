import { getHeapStatistics } from 'node:v8';
import { InFlight, type InFlightOwner } from '#libs/service';

/** A fold as the memory counts it. */
export interface HeldFold {
  readonly account: string;
  readonly weight: number;
  /** Removes the fold from its cache, which gives its room back. */
  evict(): void;
}

/** The folds of one caller, the least recently kept first. */
interface Holder {
  readonly tenant: string;
  readonly folds: Set<HeldFold>;
  weight: number;
}

/** Bytes of a tenant, and of one caller in it. */
interface Load {
  readonly tenant: number;
  readonly own: number;
}

/** A cache of folds, by the ids of their Tasks. */
interface FoldCache {
  take(taskId: string): unknown;
  clear(): void;
}

/** The share of the heap that all folds may take. */
const SHARE = 1 / 8;
/** The share of that which the folds of one tenant may take. */
const TENANT_SHARE = 3 / 4;

/**
 * The room in the memory of this replica for what is kept folded of waiting Tasks, whichever cache keeps it.
 *
 * - All folds together take at most `most` bytes of the heap, those of one tenant three quarters of that.
 * - Where there is no room, the tenant with the most gives some up, and in it the caller with the most: the least recently
 *   kept fold. So a caller loses nothing to others while it has less than its equal share.
 * - Nothing is kept while half of what may be in flight is (`IN_FLIGHT_LIMIT`), nor for a caller with half of its own
 *   (`CALLER_IN_FLIGHT_LIMIT`); what was kept for those is evicted.
 */
export class FoldMemory {
  private readonly caches: FoldCache[] = [];
  /** By account, the least recently served first. */
  private readonly holders = new Map<string, Holder>();
  private readonly tenants = new Map<string, number>();
  private total = 0;

  /** @param most bytes of the heap */
  constructor(
    private readonly inFlight: Pick<InFlight, 'isFull'> = { isFull: () => false },
    private readonly most = Math.floor(getHeapStatistics().heap_size_limit * SHARE),
  ) {}

  /** Bytes of the heap that all folds are taken for. */
  get weight(): number {
    return this.total;
  }

  /** Counts the folds of a cache here from now on, for as long as the process lives. */
  attach(cache: FoldCache): void {
    this.caches.push(cache);
  }

  /** Evicts all folds where the process needs its memory for what is in flight. */
  relieve(): void {
    if (this.total > 0 && this.inFlight.isFull()) for (const cache of this.caches) cache.clear();
  }

  /** Evicts what is kept of Tasks that there are no more. */
  forget(taskIds: readonly string[]): void {
    for (const cache of this.caches) for (const taskId of taskIds) cache.take(taskId);
  }

  /** Makes room for a fold and counts it until it is released. Returns `undefined` where it is not to be kept. */
  hold(owner: InFlightOwner, weight: number, evict: () => void): HeldFold | undefined {
    const account = InFlight.accountOf(owner);
    this.relieve();
    if (this.inFlight.isFull(account)) {
      for (const fold of this.holders.get(account)?.folds ?? []) fold.evict();
      return undefined;
    }
    if (!this.makeRoom(account, owner.tenant, weight)) return undefined;
    const held = { account, weight, evict };
    const holder = this.holders.get(account) ?? { tenant: owner.tenant, folds: new Set(), weight: 0 };
    this.holders.delete(account);
    this.holders.set(account, holder);
    holder.folds.add(held);
    this.count(account, holder, weight);
    return held;
  }

  /** Gives the room of a fold back. */
  release(held: HeldFold): void {
    const holder = this.holders.get(held.account);
    if (holder?.folds.delete(held)) this.count(held.account, holder, -held.weight);
  }

  private makeRoom(account: string, tenant: string, weight: number): boolean {
    const room = this.most * TENANT_SHARE;
    if (weight > room) return false;
    for (;;) {
      const isTenantFull = (this.tenants.get(tenant) ?? 0) + weight > room;
      if (!isTenantFull && this.total + weight <= this.most) return true;
      const [oldest] = this.heaviest(account, tenant, weight, isTenantFull)?.folds ?? [];
      if (!oldest) return false;
      oldest.evict();
    }
  }

  /** Returns the caller that has the most, with what is to be kept counted in; of several the one served longest ago. */
  private heaviest(account: string, tenant: string, more: number, inTenant: boolean): Holder | undefined {
    const loadOf = (name: string, own: number): Load => ({
      tenant: (this.tenants.get(name) ?? 0) + (name === tenant ? more : 0),
      own,
    });
    let found: Holder | undefined;
    let most: Load = { tenant: -1, own: -1 };
    for (const [name, holder] of this.holders) {
      if (name === account || (inTenant && holder.tenant !== tenant)) continue;
      const load = loadOf(holder.tenant, holder.weight);
      if (isMore(load, most)) [found, most] = [holder, load];
    }
    const own = this.holders.get(account);
    return isMore(loadOf(tenant, (own?.weight ?? 0) + more), most) ? own : found;
  }

  private count(account: string, holder: Holder, weight: number): void {
    this.total += weight;
    holder.weight += weight;
    if (holder.folds.size === 0) this.holders.delete(account);
    const sum = (this.tenants.get(holder.tenant) ?? 0) + weight;
    if (sum === 0) this.tenants.delete(holder.tenant);
    else this.tenants.set(holder.tenant, sum);
  }
}

function isMore(load: Load, than: Load): boolean {
  return load.tenant > than.tenant || (load.tenant === than.tenant && load.own > than.own);
}
