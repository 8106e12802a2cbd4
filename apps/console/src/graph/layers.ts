/** Edge between two nodes, as the indexes of the nodes. */
export type Link = readonly [from: number, to: number];

/** Nodes of a graph in layers: every edge leads to a later layer. */
export interface Layers {
  /** Number of the layer of each node, by node index. */
  layerOf: readonly number[];
  /** Indexes of the nodes of each layer. */
  nodesOf: readonly (readonly number[])[];
  /** Sources of the edges to each node. */
  before: readonly (readonly number[])[];
  /** Targets of the edges from each node. */
  after: readonly (readonly number[])[];
}

/**
 * Returns the layers of a graph of `count` nodes, in time linear in nodes and edges.
 * - Edges that close a cycle, in the order of the nodes and edges, are dropped.
 * - A node stands in the first layer after all its sources.
 * - A node with more targets than sources stands just before the first of its targets, which keeps edges short.
 */
export function layersOf(count: number, links: readonly Link[]): Layers {
  const { order, after } = sortedWithoutCycles(neighborsOf(count, links));
  const before: number[][] = Array.from({ length: count }, () => []);
  for (const from of order) for (const to of after[from]!) before[to]!.push(from);
  const layerOf = Array.from({ length: count }, () => 0);
  for (const node of order) for (const to of after[node]!) layerOf[to] = Math.max(layerOf[to]!, layerOf[node]! + 1);
  for (const node of order.toReversed()) {
    if (after[node]!.length <= before[node]!.length) continue;
    layerOf[node] = after[node]!.reduce((least, to) => Math.min(least, layerOf[to]!), Infinity) - 1;
  }
  // The longest path to the last layer is never moved, so every layer has a node.
  const last = layerOf.reduce((most, layer) => Math.max(most, layer), -1);
  const nodesOf: number[][] = Array.from({ length: last + 1 }, () => []);
  for (const [node, layer] of layerOf.entries()) nodesOf[layer]!.push(node);
  return { layerOf, nodesOf, before, after };
}

function neighborsOf(count: number, links: readonly Link[]): number[][] {
  const after = Array.from({ length: count }, () => new Set<number>());
  for (const [from, to] of links) after[from]!.add(to);
  return after.map((targets) => [...targets]);
}

/**
 * Sorts nodes so that every edge leads forward, and drops the edges that close a cycle. It does not recurse, so a deep
 * graph cannot overflow the stack.
 */
function sortedWithoutCycles(all: readonly (readonly number[])[]): { order: number[]; after: number[][] } {
  const after: number[][] = all.map(() => []);
  const state: ('open' | 'done' | undefined)[] = all.map(() => undefined);
  const next = all.map(() => 0);
  const finished: number[] = [];
  for (const start of all.keys()) {
    const path = state[start] === undefined ? [start] : [];
    while (path.length > 0) {
      const node = path.at(-1)!;
      state[node] = 'open';
      const to = all[node]![next[node]!];
      next[node]! += 1;
      if (to === undefined) {
        state[node] = 'done';
        finished.push(path.pop()!);
      } else if (state[to] !== 'open') {
        after[node]!.push(to);
        if (state[to] === undefined) path.push(to);
      }
    }
  }
  return { order: finished.toReversed(), after };
}
