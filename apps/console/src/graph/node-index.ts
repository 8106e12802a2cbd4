import type { GraphNode } from './graph.js';

const indexes = new WeakMap<readonly GraphNode[], ReadonlyMap<string, GraphNode>>();

/** Returns a node by its id, from an index that is built once for each list. */
export function nodeById(nodes: readonly GraphNode[], id: string): GraphNode | undefined {
  let index = indexes.get(nodes);
  if (!index) {
    index = new Map(nodes.map((node) => [node.id, node]));
    indexes.set(nodes, index);
  }
  return index.get(id);
}
