import dagre from '@dagrejs/dagre';
import { type Graph, type GraphEdge, NODE_HEIGHT, NODE_WIDTH, type Position } from './graph.js';
import { layersOf, type Link } from './layers.js';
import { rowsOf } from './rows.js';

const BETWEEN_LAYERS = 80;
const BETWEEN_NODES = 36;
/** Room for what stands on an edge. */
const LABEL = { width: 150, height: 22, labelpos: 'c' };

/** Nodes and edges up to which dagre is quick enough: its time grows with the square of them. */
const FEW = { nodes: 300, edges: 900 };

/** What of a graph decides where its nodes are drawn. */
export interface Shape {
  nodes: readonly { id: string }[];
  edges: readonly GraphEdge[];
}

/**
 * A place for every node, from left to right in the order of the edges. Edges back, and those to nodes that are not there,
 * are ignored. A graph with more than 300 nodes or 900 edges is laid out in linear time, with less regard to crossings.
 */
export function layout(shape: Shape): Map<string, Position> {
  const isLarge = shape.nodes.length > FEW.nodes || shape.edges.length > FEW.edges;
  return isLarge ? layoutInLayers(shape) : layoutByDagre(shape);
}

/** Returns places by layers: a layer is a column, wide enough for what stands on the edges to it. */
function layoutInLayers({ nodes, edges }: Shape): Map<string, Position> {
  const indexes = new Map(nodes.map(({ id }, index) => [id, index]));
  const links: Link[] = [];
  const labeled = new Set<number>();
  for (const edge of edges) {
    const [from, to] = [indexes.get(edge.from), indexes.get(edge.to)];
    if (edge.loop || from === undefined || to === undefined) continue;
    links.push([from, to]);
    if (hasLabel(edge)) labeled.add(to);
  }
  const layers = layersOf(nodes.length, links);
  const tops = rowsOf(layers, NODE_HEIGHT + BETWEEN_NODES);
  const lefts: number[] = [];
  for (const [layer, members] of layers.nodesOf.entries()) {
    const gap = BETWEEN_LAYERS + (members.some((node) => labeled.has(node)) ? LABEL.width : 0);
    lefts.push(layer === 0 ? 0 : lefts[layer - 1]! + NODE_WIDTH + gap);
  }
  return new Map(
    nodes.map(({ id }, index) => [id, { x: lefts[layers.layerOf[index]!]!, y: Math.round(tops[index]!) }]),
  );
}

function hasLabel({ when, on }: GraphEdge): boolean {
  return when !== undefined || on !== undefined;
}

function layoutByDagre({ nodes, edges }: Shape): Map<string, Position> {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: 'LR', ranksep: BETWEEN_LAYERS, nodesep: BETWEEN_NODES });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { id } of nodes) graph.setNode(keyOf(id), { width: NODE_WIDTH, height: NODE_HEIGHT });
  for (const edge of edges) {
    const [from, to] = [keyOf(edge.from), keyOf(edge.to)];
    if (edge.loop || !graph.hasNode(from) || !graph.hasNode(to)) continue;
    if (hasLabel(edge)) graph.setEdge(from, to, LABEL);
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
