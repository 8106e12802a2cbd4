import type { Graph } from './shape.ts';

/** Number of layers for each node of a layer, so that the graph is about as wide as a window. */
const ASPECT = 1.6;

/**
 * Returns a graph in layers: each node follows two nodes of the layer before it.
 * @param count number of nodes
 */
export function layersOf(count: number): Graph {
  const height = Math.max(1, Math.round(Math.sqrt(count / ASPECT)));
  const nodes = Array.from({ length: count }, (_, index) => `n${String(index + 1).padStart(4, '0')}`);
  const edges = nodes.flatMap((to, index) => {
    const layer = Math.floor(index / height) * height;
    if (layer === 0) return [];
    const sources = new Set([index - height, layer - height + ((index + 1) % height)]);
    return [...sources].map((source) => ({ from: nodes[source] ?? '', to }));
  });
  return { nodes, edges };
}
