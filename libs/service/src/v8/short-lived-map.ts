/**
 * Map for entries that live as long as a request.
 *
 * `Map` and `Set` link each outgrown table to its successor. The entries of such tables, with all that they reference,
 * outlive the young generation until a full collection: kilobytes per request, copied twice. This map keeps no link to
 * removed entries. A plain object as a dictionary keeps no link to them, too, but V8 looks up each new key among all
 * names that it knows.
 *
 * An assignment `thing.property = () => …` has the same cost per request: V8 allocates such a function in the old
 * generation, with all that it references. A function with a name, or a bound one, is allocated in the young
 * generation.
 *
 * Keys should differ in their last characters, as ids do.
 */
export class ShortLivedMap<V> {
  /** Entries whose keys have the same hash, by slot. */
  private readonly slots = Array.from<ShortLivedEntry<V> | undefined>({ length: SLOTS });
  private count = 0;

  get size(): number {
    return this.count;
  }

  get(key: string): V | undefined {
    return this.findEntry(key)?.value;
  }

  has(key: string): boolean {
    return this.findEntry(key) !== undefined;
  }

  set(key: string, value: V & {}): void {
    const known = this.findEntry(key);
    if (known) {
      known.value = value;
      return;
    }
    const slot = slotOf(key);
    this.slots[slot] = { key, value, next: this.slots[slot] };
    this.count += 1;
  }

  delete(key: string): void {
    const slot = slotOf(key);
    let [before, entry]: (ShortLivedEntry<V> | undefined)[] = [undefined, this.slots[slot]];
    while (entry && entry.key !== key) [before, entry] = [entry, entry.next];
    if (!entry) return;
    if (before) before.next = entry.next;
    else this.slots[slot] = entry.next;
    entry.next = undefined;
    this.count -= 1;
  }

  /** Returns a snapshot of the keys, in no particular order. */
  keys(): string[] {
    return this.entries().map(({ key }) => key);
  }

  /** Returns a snapshot of the values, in no particular order. */
  values(): V[] {
    return this.entries().map(({ value }) => value);
  }

  private findEntry(key: string): ShortLivedEntry<V> | undefined {
    let entry = this.slots[slotOf(key)];
    while (entry && entry.key !== key) entry = entry.next;
    return entry;
  }

  private entries(): ShortLivedEntry<V>[] {
    const all: ShortLivedEntry<V>[] = [];
    for (const first of this.slots) for (let entry = first; entry; entry = entry.next) all.push(entry);
    return all;
  }
}

interface ShortLivedEntry<V> {
  readonly key: string;
  value: V;
  next: ShortLivedEntry<V> | undefined;
}

const SLOTS = 1024;
const HASHED_CHARACTERS = 8;

function slotOf(key: string): number {
  let hash = 0;
  for (let index = Math.max(0, key.length - HASHED_CHARACTERS); index < key.length; index++)
    hash = (Math.imul(hash, 31) + key.charCodeAt(index)) | 0;
  return hash & (SLOTS - 1);
}

/**
 * Set of values that live as long as a request, without the cost of `Set` (see ShortLivedMap). It has no particular
 * order.
 */
export class ShortLivedSet<T> implements Iterable<ShortLivedItem<T>> {
  private readonly all: ShortLivedItem<T>[] = [];

  add(value: T): ShortLivedItem<T> {
    return new ShortLivedItem(value, this.all);
  }

  /** Iterates over a snapshot of the members. */
  [Symbol.iterator](): Iterator<ShortLivedItem<T>> {
    return this.all.slice().values();
  }
}

/** Member of a set of short-lived values. */
export class ShortLivedItem<T> {
  private index: number;

  constructor(
    readonly value: T,
    private readonly all: ShortLivedItem<T>[],
  ) {
    this.index = all.push(this) - 1;
  }

  get isThere(): boolean {
    return this.all[this.index] === this;
  }

  /** Removes this member; does nothing if it was removed already. */
  leaveSet(): void {
    if (!this.isThere) return;
    const last = this.all.pop()!;
    if (last === this) return;
    this.all[this.index] = last;
    last.index = this.index;
  }
}
