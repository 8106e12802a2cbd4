import dagre from '@dagrejs/dagre';
import { type Graph, type GraphEdge, NODE_HEIGHT, NODE_WIDTH, type Position } from './graph.js';

const BETWEEN_LAYERS = 80;
const BETWEEN_NODES = 36;
/** Room for what stands on an edge. */
const LABEL = { width: 150, height: 22, labelpos: 'c' };

/** What of a graph decides where its nodes are drawn. */
export interface Shape {
  nodes: readonly { id: string }[];
  edges: readonly GraphEdge[];
}

/**
 * A place for every node, from left to right in the order of the edges. Edges back, and those to nodes that are not there,
 * are ignored.
 */
export function layout({ nodes, edges }: Shape): Map<string, Position> {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: 'LR', ranksep: BETWEEN_LAYERS, nodesep: BETWEEN_NODES });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { id } of nodes) graph.setNode(keyOf(id), { width: NODE_WIDTH, height: NODE_HEIGHT });
  for (const { loop, when, on, ...ends } of edges) {
    const [from, to] = [keyOf(ends.from), keyOf(ends.to)];
    if (loop || !graph.hasNode(from) || !graph.hasNode(to)) continue;
    if (when !== undefined || on !== undefined) graph.setEdge(from, to, LABEL);
    else if (!graph.hasEdge(from, to)) graph.setEdge(from, to);
  }
  dagre.layout(graph);
  return new Map(nodes.map(({ id }) => [id, cornerOf(graph.node(keyOf(id)))]));
}

/** Where nodes are drawn: where they were put, or all by the layout when one of them has no place. */
export function placed(graph: Graph): Map<string, Position> {
  if (graph.nodes.some(({ position }) => position === undefined)) return layout(graph);
  return new Map(graph.nodes.map(({ id, position }) => [id, position ?? { x: 0, y: 0 }]));
}

/** Dagre keeps nodes as members of objects, which have some by themselves: `constructor`. */
function keyOf(id: string): string {
  return `node ${id}`;
}

function cornerOf({ x, y }: Position): Position {
  return { x: Math.round(x - NODE_WIDTH / 2), y: Math.round(y - NODE_HEIGHT / 2) };
}
