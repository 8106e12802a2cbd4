/** Set with its least members at hand. Adding and deleting cost the logarithm of its size. */
export class Heap<T> {
  private readonly items: T[] = [];
  private readonly places = new Map<T, number>();

  /** @param before true if the first comes before the second; a total order in which no member changes its place */
  constructor(private readonly before: (one: T, other: T) => boolean) {}

  get size(): number {
    return this.items.length;
  }

  /** Least member. */
  get first(): T | undefined {
    return this.items[0];
  }

  has(item: T): boolean {
    return this.places.has(item);
  }

  add(item: T): void {
    if (this.places.has(item)) return;
    this.items.push(item);
    this.moveUp(this.items.length - 1);
  }

  delete(item: T): void {
    const place = this.places.get(item);
    if (place === undefined) return;
    this.places.delete(item);
    const last = this.items.pop() as T;
    if (last === item) return;
    this.placeItem(last, place);
    this.moveUp(place);
    this.moveDown(this.places.get(last) ?? place);
  }

  /** Yields the members in order while `wanted` is true. Costs only as much as it yields. */
  *iterateInOrder(wanted: (item: T) => boolean = () => true): Generator<T> {
    const open = new Heap<number>((one, other) => this.before(this.items[one] as T, this.items[other] as T));
    if (this.items.length > 0) open.add(0);
    for (let place = open.first; place !== undefined; place = open.first) {
      open.delete(place);
      const item = this.items[place] as T;
      if (!wanted(item)) return;
      yield item;
      for (const child of [2 * place + 1, 2 * place + 2]) if (child < this.items.length) open.add(child);
    }
  }

  private moveUp(place: number): void {
    const item = this.items[place] as T;
    let at = place;
    for (let above = (at - 1) >> 1; at > 0 && this.before(item, this.items[above] as T); above = (at - 1) >> 1) {
      this.placeItem(this.items[above] as T, at);
      at = above;
    }
    this.placeItem(item, at);
  }

  private moveDown(place: number): void {
    const item = this.items[place] as T;
    let at = place;
    for (let below = this.lesserChild(at); below !== undefined; below = this.lesserChild(at)) {
      const child = this.items[below] as T;
      if (!this.before(child, item)) break;
      this.placeItem(child, at);
      at = below;
    }
    this.placeItem(item, at);
  }

  private lesserChild(place: number): number | undefined {
    const [left, right] = [2 * place + 1, 2 * place + 2];
    if (left >= this.items.length) return undefined;
    return right < this.items.length && this.before(this.items[right] as T, this.items[left] as T) ? right : left;
  }

  private placeItem(item: T, place: number): void {
    this.items[place] = item;
    this.places.set(item, place);
  }
}
