import type { Graph, Position } from './graph.js';
import { isLaidOutInLayers, layOutGraph, placeNodes, type GraphShape } from './layout.js';

/** Maximum nodes of a graph that can be laid out during rendering without a visible delay. */
const FEW = 40;
/** Maximum nodes and edges of a graph whose layout in linear time takes less than the start of a worker. */
const MANY_PARTS = 4_000;

/** True if `placeNodes` is fast enough for a graph to be called during rendering: dagre takes a second for 150 nodes. */
export function isQuicklyPlaced(graph: Graph): boolean {
  return isQuicklyLaidOut(graph) || graph.nodes.every(({ position }) => position !== undefined);
}

function isQuicklyLaidOut(shape: GraphShape): boolean {
  const { nodes, edges } = shape;
  return nodes.length <= FEW || (isLaidOutInLayers(shape) && nodes.length + edges.length <= MANY_PARTS);
}

/** Returns the positions of `placeNodes`; a large graph is laid out in a worker, so the page stays responsive. */
export async function placedAside(graph: Graph): Promise<Map<string, Position>> {
  return isQuicklyPlaced(graph) ? placeNodes(graph) : layoutAside(graph);
}

/** Returns the positions of `layOutGraph`; a large graph is laid out in a worker, so the page stays responsive. */
export async function layoutAside(graph: GraphShape): Promise<Map<string, Position>> {
  if (isQuicklyLaidOut(graph) || typeof Worker === 'undefined') return layOutGraph(graph);
  const worker = new Worker(new URL('./layout-worker.ts', import.meta.url), { type: 'module' });
  try {
    return await answerOf(worker, graph);
  } catch {
    return layOutGraph(graph);
  } finally {
    worker.terminate();
  }
}

function answerOf(worker: Worker, { nodes, edges }: GraphShape): Promise<Map<string, Position>> {
  return new Promise((resolve, reject) => {
    worker.addEventListener('message', ({ data }: MessageEvent<Map<string, Position>>) => resolve(data));
    worker.addEventListener('error', () => reject(new Error('The layout of the graph failed')));
    worker.postMessage({ nodes: nodes.map(({ id }) => ({ id })), edges });
  });
}
