import { getHeapStatistics } from 'node:v8';
import type { LogPlace } from './log-place.js';

/** What the log of a Task folds to, up to a place in it. */
export interface KeptFold<State> {
  readonly state: State;
  readonly place: LogPlace;
}

interface Weighed<State> {
  readonly fold: KeptFold<State>;
  readonly tenant: string;
  readonly weight: number;
}

/** The share of the heap that the folds of one cache may take. */
const SHARE = 1 / 16;
/** The share of that which the folds of one tenant may take. */
const TENANT_SHARE = 3 / 4;

/**
 * Folds of waiting processes in the memory of this replica, so that a process that goes on need not fold its log again.
 *
 * - A fold is never a source of truth: whoever uses one proves its place against the log, and folds the log otherwise.
 * - A fold has one owner: an execution takes it out, and keeps it again when its turn is durable.
 * - Folds are bounded in bytes of the heap, together and for each tenant; the least recently kept go first.
 */
export class KeptFolds<State> {
  private readonly folds = new Map<string, Weighed<State>>();
  private readonly tenants = new Map<string, number>();
  private total = 0;

  /** @param most bytes of the heap */
  constructor(private readonly most = Math.floor(getHeapStatistics().heap_size_limit * SHARE)) {}

  /** Bytes of the heap that the folds are taken for. */
  get weight(): number {
    return this.total;
  }

  get size(): number {
    return this.folds.size;
  }

  /** The fold of a Task, which stays here. */
  get(taskId: string): KeptFold<State> | undefined {
    return this.folds.get(taskId)?.fold;
  }

  /** Takes the fold of a Task out. */
  take(taskId: string): KeptFold<State> | undefined {
    const found = this.folds.get(taskId);
    if (found) this.drop(taskId, found);
    return found?.fold;
  }

  /** Keeps the fold of a Task in place of the one before; one that alone outweighs the room of its tenant is not kept. */
  keep(taskId: string, tenant: string, weight: number, fold: KeptFold<State>): void {
    this.take(taskId);
    const room = this.most * TENANT_SHARE;
    if (weight > room) return;
    this.makeRoom(
      (it) => it.tenant === tenant,
      () => (this.tenants.get(tenant) ?? 0) + weight > room,
    );
    this.makeRoom(
      () => true,
      () => this.total + weight > this.most,
    );
    this.folds.set(taskId, { fold, tenant, weight });
    this.add(tenant, weight);
  }

  /** Drops all folds. */
  clear(): void {
    this.folds.clear();
    this.tenants.clear();
    this.total = 0;
  }

  private makeRoom(isMeant: (fold: Weighed<State>) => boolean, isNeeded: () => boolean): void {
    if (!isNeeded()) return;
    for (const [taskId, fold] of this.folds) {
      if (isMeant(fold)) this.drop(taskId, fold);
      if (!isNeeded()) return;
    }
  }

  private drop(taskId: string, { tenant, weight }: Weighed<State>): void {
    this.folds.delete(taskId);
    this.add(tenant, -weight);
  }

  private add(tenant: string, weight: number): void {
    this.total += weight;
    const sum = (this.tenants.get(tenant) ?? 0) + weight;
    if (sum === 0) this.tenants.delete(tenant);
    else this.tenants.set(tenant, sum);
  }
}
