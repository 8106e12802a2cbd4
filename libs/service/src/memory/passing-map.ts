/**
 * A map for entries that come and go with requests. `Map` and `Set` link each of their tables that became too small, or
 * full of what was deleted, to the next one: what such tables hold, with all that it refers to, outlives the young
 * generation until a full collection. That is kilobytes of every request, copied twice. This one links nothing.
 *
 * The same comes of `thing.property = () => …` for every request: V8 makes a function that is assigned in place among the
 * old things at once, with what it refers to. One that has a name first, or is bound, is young like all the rest.
 */
export class PassingMap<V> {
  private readonly entries: Record<string, V | undefined> = Object.create(null) as Record<string, V | undefined>;
  private count = 0;

  get size(): number {
    return this.count;
  }

  get(key: string): V | undefined {
    return this.entries[key];
  }

  has(key: string): boolean {
    return this.entries[key] !== undefined;
  }

  set(key: string, value: V & {}): void {
    if (!this.has(key)) this.count += 1;
    this.entries[key] = value;
  }

  delete(key: string): void {
    if (!this.has(key)) return;
    this.count -= 1;
    delete this.entries[key];
  }

  /** As they are now. */
  keys(): string[] {
    return Object.keys(this.entries);
  }

  /** As they are now. */
  values(): V[] {
    return Object.values(this.entries) as V[];
  }
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
