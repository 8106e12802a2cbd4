import { setImmediate as turn } from 'node:timers/promises';
import { getHeapStatistics } from 'node:v8';
import { isWaitingState, type Task } from '#libs/protocol';
import { addCount, InFlight, type InFlightOwner } from '#libs/service';
import type { StoredTask, TaskHeader } from '../store/task-store.js';
import { eventsAfter, type LogPlace, placeOfEvent } from './fold-log.js';
import type { RecordedEvent } from './task-event.js';
import { eventBytes, TaskFold } from './task-fold.js';

/** Cached fold (state after applying the log) of one Task, with the bytes that FoldMemory counts for it. */
interface HeldFold {
  readonly account: string;
  readonly weight: number;
  /** Removes the fold from its cache, which releases the memory that is counted for it. */
  evict(): void;
}

/** Caller with the folds (cached states of Tasks) that it has in all caches, the least recently stored first. */
interface Holder {
  readonly tenant: string;
  readonly folds: Set<HeldFold>;
  weight: number;
}

/** Bytes of the cached states (folds) of a tenant, and of one caller in that tenant (`own`). */
interface Load {
  readonly tenant: number;
  readonly own: number;
}

/** Cache of folds (states of Tasks after applying their logs), by Task id. */
interface FoldCache {
  takeFold(taskId: string): unknown;
  clear(): void;
}

/** Share of the heap that all cached states (folds) may use. */
const SHARE = 1 / 8;
/** Part of the memory for cached states (folds) that the states of one tenant may use. */
const TENANT_SHARE = 3 / 4;

/**
 * Limit on the memory of this replica for cached states of waiting Tasks, over all caches (KeptFolds). The state that
 * results from applying a Task's log is called a fold.
 * - All folds together use at most `most` bytes of the heap; the folds of one tenant use at most three quarters of
 *   `most`.
 * - If a new fold does not fit, folds are evicted, beginning with the tenant with the most bytes, there with the caller
 *   with the most bytes, and of that caller with the fold that was stored first. A caller with less than an equal share
 *   loses no fold to other callers.
 * - While half of `IN_FLIGHT_LIMIT` is in use, no fold is stored, and all folds are evicted.
 * - While a caller uses half of `CALLER_IN_FLIGHT_LIMIT`, no fold of this caller is stored, and the caller's folds are
 *   evicted.
 */
export class FoldMemory {
  private readonly caches: FoldCache[] = [];
  /** Callers with cached states (folds), by account; first the caller that has stored none for the longest time. */
  private readonly holders = new Map<string, Holder>();
  private readonly tenants = new Map<string, number>();
  private total = 0;

  /** @param most maximum bytes of the heap for all cached states (folds) */
  constructor(
    private readonly inFlight: Pick<InFlight, 'isFull'> = { isFull: () => false },
    private readonly most = Math.floor(getHeapStatistics().heap_size_limit * SHARE),
  ) {}

  /** Estimated bytes of the heap that all cached states (folds) use together. */
  get weight(): number {
    return this.total;
  }

  /** Registers a cache of states (folds). It stays registered until the process ends. */
  attachCache(cache: FoldCache): void {
    this.caches.push(cache);
  }

  /** Evicts all cached states (folds) if the process needs its memory for work in flight. */
  relieveMemory(): void {
    if (this.total > 0 && this.inFlight.isFull()) for (const cache of this.caches) cache.clear();
  }

  /** Evicts the cached states (folds) of Tasks that no longer exist. */
  forgetTasks(taskIds: readonly string[]): void {
    for (const cache of this.caches) for (const taskId of taskIds) cache.takeFold(taskId);
  }

  /**
   * Evicts cached states (folds) until a new state of `weight` bytes fits, and counts the new state until it is
   * released. Returns `undefined` if the new state must not be kept.
   * @param evict removes the new state from its cache
   */
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

  /** Stops counting the memory of a cached state (fold) that was removed. */
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

  /**
   * Returns the caller that loses a cached state (fold) next, counting the bytes of the new state too. That is the
   * caller with the most bytes in the tenant with the most bytes. Among equals, it is the caller that has stored no
   * state for the longest time. Returns `undefined` if it is the caller of the new state, and this caller has no other
   * cached states.
   * @param account caller of the new state, which has `more` bytes
   * @param inTenant true to search only callers of the tenant
   */
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
    addCount(this.tenants, holder.tenant, weight);
  }
}

function isMore(load: Load, than: Load): boolean {
  return load.tenant > than.tenant || (load.tenant === than.tenant && load.own > than.own);
}

/** State after applying a Task's log up to an event, as KeptFolds caches it. */
export interface KeptFold<State> {
  readonly state: State;
  readonly place: LogPlace;
}

/**
 * Cache of folds in this replica, so that a waiting Task or process that resumes need not apply its whole log again. A
 * fold is the state after applying a log.
 * - A fold is never a source of truth: its user verifies its place against the log, and folds the whole log otherwise.
 * - An execution takes its fold out, and stores it again when its turn is durable, so a fold has one user.
 * - `FoldMemory` limits the folds of all caches, and evicts them.
 */
export class KeptFolds<State> {
  private readonly folds = new Map<string, { fold: KeptFold<State>; held: HeldFold }>();

  constructor(private readonly memory = new FoldMemory()) {
    memory.attachCache(this);
  }

  get size(): number {
    return this.folds.size;
  }

  /** Returns the cached state (fold) of a Task without removing it; `undefined` if there is none. */
  get(taskId: string): KeptFold<State> | undefined {
    this.memory.relieveMemory();
    return this.folds.get(taskId)?.fold;
  }

  /** Removes the cached state (fold) of a Task and returns it; `undefined` if there is none. */
  takeFold(taskId: string): KeptFold<State> | undefined {
    const found = this.folds.get(taskId);
    if (!found) return undefined;
    this.folds.delete(taskId);
    this.memory.releaseFold(found.held);
    return found.fold;
  }

  /**
   * Stores the state (fold) of a Task if there is room. An earlier fold of the Task is dropped in any case.
   * @param weight bytes of the heap that the state uses
   */
  keepFold(of: Pick<TaskHeader, 'taskId' | 'tenant' | 'owner'>, weight: number, fold: KeptFold<State>): void {
    this.takeFold(of.taskId);
    const held = this.memory.holdFold(of, weight, () => this.takeFold(of.taskId));
    if (held) this.folds.set(of.taskId, { fold, held });
  }

  /** Drops all cached states. */
  clear(): void {
    for (const taskId of this.folds.keys()) this.takeFold(taskId);
  }
}

/**
 * Upper bounds of the heap bytes of each kind of value in V8 of Node 24. Measured with `--expose-gc` on lists of 49,000
 * values of each worst shape, which take up to 21 bytes per byte of their JSON.
 */
const STRING = 24;
const CHARACTER = 2;
const NUMBER = 16;
const LIST = 64;
const SLOT = 8;
/** Bytes of an object without its members, if another object in the same value has the same shape. */
const OBJECT = 64;
/**
 * Bytes of an object without its members, if no other object in the same value has the same shape. V8 then describes
 * each member separately, or stores the object as a table.
 */
const OWN_SHAPE = 128;
const OWN_MEMBER = 96;
/**
 * Maximum number of members of objects that share a shape (hidden class) of V8; larger objects are stored as tables.
 */
const MOST_SHARED_MEMBERS = 64;

/**
 * Returns an upper estimate of the heap bytes of a JSON value. Uses no recursion, and takes about a microsecond for
 * thirty values.
 */
export function heapBytes(value: unknown): number {
  const shapes = new Set<string>();
  const left: unknown[] = [value];
  let bytes = 0;
  while (left.length > 0) {
    const it = left.pop();
    if (typeof it === 'string') bytes += STRING + CHARACTER * it.length;
    else if (typeof it === 'number') bytes += NUMBER;
    else if (Array.isArray(it)) {
      bytes += LIST + SLOT * it.length;
      for (const element of it) left.push(element);
    } else if (typeof it === 'object' && it !== null) {
      const names = Object.keys(it);
      bytes += isShared(names, shapes) ? OBJECT + SLOT * names.length : ownShapeBytes(names);
      for (const name of names) left.push((it as Record<string, unknown>)[name]);
    }
  }
  return bytes;
}

/**
 * True if an earlier object of the value has the same members in the same order. V8 stores the description of such a
 * shape once.
 */
function isShared(names: readonly string[], shapes: Set<string>): boolean {
  if (names.length > MOST_SHARED_MEMBERS || isIndex(names[0])) return false;
  const shape = JSON.stringify(names);
  if (shapes.has(shape)) return true;
  shapes.add(shape);
  return names.length === 0;
}

/** True if a member's name may be an array index. V8 stores indexes as elements of a table, before other members. */
function isIndex(name: string | undefined): boolean {
  return name !== undefined && name >= '0' && name < ':';
}

function ownShapeBytes(names: readonly string[]): number {
  return names.reduce((sum, { length }) => sum + OWN_MEMBER + CHARACTER * length, OWN_SHAPE);
}

/**
 * Minimum bytes of the log of a Task that is cached: the events of a shorter log are applied as fast as a cached Task
 * is looked up and verified.
 */
const SHORT_LOG = 64 * 1024;
/** Approximate bytes of new events per read. */
const PAGE_BYTES = 1024 * 1024;
/** Maximum number of new events that one read of the log returns. */
const PAGE_EVENTS = 1000;
/** Number of new events per read if their size is unknown. */
const PAGE_OF_UNKNOWN = 100;
/** Maximum milliseconds of measuring a Task's bytes before the event loop gets a turn. */
const LONGEST_STRETCH = 10;

/** Task with the bytes of its log, and the bytes of the heap that it uses (`weight`). */
export interface WeighedTask {
  readonly task: Task;
  readonly bytes: number;
  readonly weight: number;
}

/** Function that reads at most `limit` events of a log after a sequence. */
type ReadTaskEvents = (taskId: string, after: number, limit: number) => Promise<readonly RecordedEvent[]>;

/**
 * Cache of waiting Tasks with long logs, in the state after the events that this replica has read, so that only new
 * events must be applied when a Task resumes. Each use verifies that the log still has the last of those events.
 */
export class KeptTasks {
  constructor(
    private readonly events: ReadTaskEvents,
    private readonly kept: KeptFolds<WeighedTask>,
  ) {}

  /**
   * Returns the Task at `header.lastSequence`, by applying new events to the cached Task page by page; `undefined` if
   * the Task is not cached, or its log has to be applied from the start.
   */
  async foldForward(header: TaskHeader): Promise<StoredTask | undefined> {
    const found = this.kept.get(header.taskId);
    if (!found) return undefined;
    const { state } = found;
    const readOwnEvents = (after: number, limit: number) => this.events(header.taskId, after, limit);
    const page = pageEvents(header, found.place, state.bytes);
    const fold = TaskFold.fromTask(state.task);
    let { place } = found;
    let { bytes, weight } = state;
    do {
      const later = await eventsAfter(readOwnEvents, place, Math.min(place.sequence + page, header.lastSequence));
      if (!later) return undefined;
      for (const { event, json } of later) {
        fold.applyEvent(event);
        bytes += eventBytes(event, json);
        weight += heapBytes(event);
      }
      place = later.length > 0 ? placeOfEvent(later.at(-1)!) : place;
    } while (place.sequence < header.lastSequence);
    const task = fold.toTask();
    this.kept.keepFold(header, weight, { state: { task, bytes, weight }, place });
    return { header, task, bytes: header.size?.log ?? bytes };
  }

  /** Keeps a Task in its state at `header.lastSequence`, if it waits and its log is long (SHORT_LOG). */
  async keepTask({ header, task, bytes = 0 }: StoredTask): Promise<void> {
    const { taskId, lastSequence, state } = header;
    if (bytes < SHORT_LOG || !isWaitingState(state)) return;
    const [last] = await this.events(taskId, lastSequence - 1, 1);
    if (last?.sequence !== lastSequence) return;
    const weight = await weightOf(task);
    this.kept.keepFold(header, weight, { state: { task, bytes, weight }, place: placeOfEvent(last) });
  }

  /** Removes from the cache a Task that no longer waits. */
  dropTask(taskId: string): void {
    this.kept.takeFold(taskId);
  }
}

/** Returns the number of new events to read per page. */
function pageEvents({ size, lastSequence }: TaskHeader, { sequence }: LogPlace, bytes: number): number {
  if (!size) return PAGE_OF_UNKNOWN;
  const usual = (size.log - bytes) / Math.max(lastSequence - sequence, 1);
  return Math.min(Math.max(Math.floor(PAGE_BYTES / Math.max(usual, 1)), 1), PAGE_EVENTS);
}

/** Resolves with the heap bytes of a Task, which must not change meanwhile. */
async function weightOf({ history = [], artifacts = [], ...rest }: Task): Promise<number> {
  let weight = heapBytes(rest);
  let since = performance.now();
  for (const it of [...history, ...artifacts]) {
    weight += heapBytes(it);
    if (performance.now() - since < LONGEST_STRETCH) continue;
    await turn();
    since = performance.now();
  }
  return weight;
}
