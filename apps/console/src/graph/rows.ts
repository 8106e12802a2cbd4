import type { Layers } from './layers.js';

/**
 * Number of passes over the layers, alternately forward and back, that order and align the nodes. Further passes change
 * little.
 */
const SWEEPS = 6;

/**
 * Returns the y coordinate of each node's top edge, in pixels below the topmost node.
 * - Nodes of a layer are at least `rowHeight` apart, and near the nodes that they share edges with.
 * - The time is linear in nodes and edges, except for sorting the layers.
 */
export function rowsOf({ layerOf, nodesOf, before, after }: Layers, rowHeight: number): number[] {
  const tops = layerOf.map(() => 0);
  for (const nodes of nodesOf) for (const [row, node] of nodes.entries()) tops[node] = row * rowHeight;
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    for (const nodes of nodesOf) alignLayer(nodes, before, tops, rowHeight);
    for (const nodes of nodesOf.toReversed()) alignLayer(nodes, after, tops, rowHeight);
  }
  for (const nodes of nodesOf) alignLayer(nodes, before, tops, rowHeight);
  const highest = tops.reduce((least, top) => Math.min(least, top), Infinity);
  return tops.map((top) => top - highest);
}

/**
 * Orders the nodes of a layer by the mean top of their neighbors, and places each node as near to that mean as
 * possible.
 */
function alignLayer(
  nodes: readonly number[],
  neighbors: readonly (readonly number[])[],
  tops: number[],
  rowHeight: number,
): void {
  const wanted = nodes.map((node) => ({ node, top: meanOf(neighbors[node]!, tops) ?? tops[node]! }));
  wanted.sort((a, b) => a.top - b.top || tops[a.node]! - tops[b.node]!);
  const fitted = nonDecreasing(wanted.map(({ top }, row) => top - row * rowHeight));
  for (const [row, { node }] of wanted.entries()) tops[node] = fitted[row]! + row * rowHeight;
}

function meanOf(nodes: readonly number[], tops: readonly number[]): number | undefined {
  if (nodes.length === 0) return undefined;
  return nodes.reduce((sum, node) => sum + tops[node]!, 0) / nodes.length;
}

/**
 * Returns the non-decreasing values nearest to the given values (least squares). Adjacent values in the wrong order get
 * their mean.
 */
function nonDecreasing(values: readonly number[]): number[] {
  const blocks: { sum: number; size: number }[] = [];
  for (const value of values) {
    let block = { sum: value, size: 1 };
    for (let last = blocks.at(-1); last && last.sum / last.size > block.sum / block.size; last = blocks.at(-1)) {
      block = { sum: last.sum + block.sum, size: last.size + block.size };
      blocks.pop();
    }
    blocks.push(block);
  }
  return blocks.flatMap(({ sum, size }) => Array.from({ length: size }, () => sum / size));
}
