import { getHeapStatistics } from 'node:v8';
import { InFlight, type InFlightOwner } from '#libs/service';

/** Fold as the memory counts it. */
export interface HeldFold {
  readonly account: string;
  readonly weight: number;
  /** Removes the fold from its cache, which releases its room. */
  evict(): void;
}

/** Folds of one caller, the least recently kept first. */
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

/** Cache of folds, by Task id. */
interface FoldCache {
  takeFold(taskId: string): unknown;
  clear(): void;
}

/** Share of the heap that all folds may use. */
const SHARE = 1 / 8;
/** Share of that for the folds of one tenant. */
const TENANT_SHARE = 3 / 4;

/**
 * Memory of this replica for folds of waiting Tasks, over all caches.
 * - All folds together use at most `most` bytes of the heap, those of one tenant three quarters of that.
 * - When room is short, the tenant with the most folds loses some: the least recently kept fold of its largest caller.
 *   A caller with less than its equal share loses nothing to others.
 * - Nothing is kept while half of `IN_FLIGHT_LIMIT` is in use, nor for a caller that uses half of its
 *   `CALLER_IN_FLIGHT_LIMIT`. Existing folds are evicted then.
 */
export class FoldMemory {
  private readonly caches: FoldCache[] = [];
  /** Holders by account, the least recently served first. */
  private readonly holders = new Map<string, Holder>();
  private readonly tenants = new Map<string, number>();
  private total = 0;

  /** @param most bytes of the heap */
  constructor(
    private readonly inFlight: Pick<InFlight, 'isFull'> = { isFull: () => false },
    private readonly most = Math.floor(getHeapStatistics().heap_size_limit * SHARE),
  ) {}

  /** Estimated bytes of the heap that all folds use. */
  get weight(): number {
    return this.total;
  }

  /** Adds a cache, for as long as the process lives. */
  attachCache(cache: FoldCache): void {
    this.caches.push(cache);
  }

  /** Evicts all folds if the process needs its memory for work in flight. */
  relieveMemory(): void {
    if (this.total > 0 && this.inFlight.isFull()) for (const cache of this.caches) cache.clear();
  }

  /** Evicts the folds of Tasks that no longer exist. */
  forgetTasks(taskIds: readonly string[]): void {
    for (const cache of this.caches) for (const taskId of taskIds) cache.takeFold(taskId);
  }

  /** Makes room for a fold and counts it until it is released. Returns `undefined` if the fold must not be kept. */
  holdFold(owner: InFlightOwner, weight: number, evict: () => void): HeldFold | undefined {
    const account = InFlight.accountOf(owner);
    this.relieveMemory();
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
    this.countWeight(account, holder, weight);
    return held;
  }

  /** Releases the room of a fold. */
  releaseFold(held: HeldFold): void {
    const holder = this.holders.get(held.account);
    if (holder?.folds.delete(held)) this.countWeight(held.account, holder, -held.weight);
  }

  private makeRoom(account: string, tenant: string, weight: number): boolean {
    const room = this.most * TENANT_SHARE;
    if (weight > room) return false;
    for (;;) {
      const isTenantFull = (this.tenants.get(tenant) ?? 0) + weight > room;
      if (!isTenantFull && this.total + weight <= this.most) return true;
      const [oldest] = this.findHeaviest(account, tenant, weight, isTenantFull)?.folds ?? [];
      if (!oldest) return false;
      oldest.evict();
    }
  }

  /** Returns the caller with the most folds, including the one to be kept; among equals the least recently served. */
  private findHeaviest(account: string, tenant: string, more: number, inTenant: boolean): Holder | undefined {
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

  private countWeight(account: string, holder: Holder, weight: number): void {
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
