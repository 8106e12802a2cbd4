import type { GraphNode } from './graph.js';

const indexes = new WeakMap<readonly GraphNode[], ReadonlyMap<string, GraphNode>>();

/** A node of a list by its id. A list is gone through once, however often it is asked. */
export function nodeById(nodes: readonly GraphNode[], id: string): GraphNode | undefined {
  let index = indexes.get(nodes);
  if (!index) {
    index = new Map(nodes.map((node) => [node.id, node]));
    indexes.set(nodes, index);
  }
  return index.get(id);
}
