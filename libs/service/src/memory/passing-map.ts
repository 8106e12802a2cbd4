/**
 * A map for entries that come and go with requests. `Map` and `Set` link each of their tables that became too small, or
 * full of what was deleted, to the next one: what such tables hold, with all that it refers to, outlives the young
 * generation until a full collection. That is kilobytes of every request, copied twice. This one links nothing that has
 * left it. An object as a dictionary would not either, but has V8 look every new key up among all names that it knows.
 *
 * The same comes of `thing.property = () => …` for every request: V8 makes a function that is assigned in place among the
 * old things at once, with what it refers to. One that has a name first, or is bound, is young like all the rest.
 *
 * Keys should differ in their last characters, as ids do.
 */
export class PassingMap<V> {
  /** In each slot the entries whose keys have the same hash. */
  private readonly slots = Array.from<PassingEntry<V> | undefined>({ length: SLOTS });
  private count = 0;

  get size(): number {
    return this.count;
  }

  get(key: string): V | undefined {
    return this.find(key)?.value;
  }

  has(key: string): boolean {
    return this.find(key) !== undefined;
  }

  set(key: string, value: V & {}): void {
    const known = this.find(key);
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
    let [before, entry]: (PassingEntry<V> | undefined)[] = [undefined, this.slots[slot]];
    while (entry && entry.key !== key) [before, entry] = [entry, entry.next];
    if (!entry) return;
    if (before) before.next = entry.next;
    else this.slots[slot] = entry.next;
    entry.next = undefined;
    this.count -= 1;
  }

  /** As they are now, in no order. */
  keys(): string[] {
    return this.entries().map(({ key }) => key);
  }

  /** As they are now, in no order. */
  values(): V[] {
    return this.entries().map(({ value }) => value);
  }

  private find(key: string): PassingEntry<V> | undefined {
    let entry = this.slots[slotOf(key)];
    while (entry && entry.key !== key) entry = entry.next;
    return entry;
  }

  private entries(): PassingEntry<V>[] {
    const all: PassingEntry<V>[] = [];
    for (const first of this.slots) for (let entry = first; entry; entry = entry.next) all.push(entry);
    return all;
  }
}

interface PassingEntry<V> {
  readonly key: string;
  value: V;
  next: PassingEntry<V> | undefined;
}

const SLOTS = 1024;
const HASHED_CHARACTERS = 8;

function slotOf(key: string): number {
  let hash = 0;
  for (let index = Math.max(0, key.length - HASHED_CHARACTERS); index < key.length; index++)
    hash = (Math.imul(hash, 31) + key.charCodeAt(index)) | 0;
  return hash & (SLOTS - 1);
}

/** The same for things without a name, in no order. */
export class PassingSet<T> implements Iterable<Passing<T>> {
  private readonly all: Passing<T>[] = [];

  add(value: T): Passing<T> {
    return new Passing(value, this.all);
  }

  /** Those that are there when the iteration begins. */
  [Symbol.iterator](): Iterator<Passing<T>> {
    return this.all.slice().values();
  }
}

/** One thing in a PassingSet. */
export class Passing<T> {
  private index: number;

  constructor(
    readonly value: T,
    private readonly all: Passing<T>[],
  ) {
    this.index = all.push(this) - 1;
  }

  get isThere(): boolean {
    return this.all[this.index] === this;
  }

  /** Takes it out, also where it has left already. */
  leave(): void {
    if (!this.isThere) return;
    const last = this.all.pop()!;
    if (last === this) return;
    this.all[this.index] = last;
    last.index = this.index;
  }
}
