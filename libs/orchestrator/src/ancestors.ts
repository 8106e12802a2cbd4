/** Graph in topological order: each node comes after all of its predecessors. */
interface OrderedGraph {
  readonly order: readonly string[];
  predecessors(id: string): string[];
}

const BITS = 32;

/** Ancestors of each node in a graph. Takes one bit for each pair of nodes. */
export class AncestorSets {
  private readonly places: ReadonlyMap<string, number>;
  private readonly sets = new Map<string, Uint32Array>();

  constructor(graph: OrderedGraph) {
    const { order } = graph;
    this.places = new Map(order.map((id, place) => [id, place]));
    for (const id of order) {
      const set = new Uint32Array(Math.ceil(order.length / BITS));
      for (const predecessor of graph.predecessors(id)) this.includePredecessor(set, predecessor);
      this.sets.set(id, set);
    }
  }

  hasAncestor(id: string, ancestor: string): boolean {
    const place = this.places.get(ancestor);
    const words = this.sets.get(id);
    if (place === undefined || words === undefined) return false;
    return ((words[Math.floor(place / BITS)] ?? 0) & (1 << (place % BITS))) !== 0;
  }

  private includePredecessor(set: Uint32Array, predecessor: string): void {
    const place = this.places.get(predecessor) ?? 0;
    const before = this.sets.get(predecessor);
    if (before) for (const [index, word] of before.entries()) set[index] = (set[index] ?? 0) | word;
    const index = Math.floor(place / BITS);
    set[index] = (set[index] ?? 0) | (1 << (place % BITS));
  }
}
