import dagre from '@dagrejs/dagre';
import { type Graph, type DefinitionEdge, NODE_HEIGHT, NODE_WIDTH, type Position } from './graph.js';
import { layersOf, type Link } from './layers.js';
import { rowsOf } from './rows.js';

const BETWEEN_LAYERS = 80;
const BETWEEN_NODES = 36;
/** Space that the layout reserves for an edge's label, in pixels. */
const LABEL = { width: 150, height: 22, labelpos: 'c' };

/** Maximum size of a graph that dagre lays out fast enough: its time grows quadratically. */
const FEW = { nodes: 150, edges: 450 };

/** The part of a graph that determines its layout. */
export interface GraphShape {
  nodes: readonly { id: string }[];
  edges: readonly DefinitionEdge[];
}

/**
 * Returns a position for every node, from left to right in the order of the edges.
 * - Edges of loops, and edges to missing nodes, are ignored.
 * - A graph with more than 150 nodes or 450 edges is laid out in linear time, with more crossings.
 */
export function layOutGraph(shape: GraphShape): Map<string, Position> {
  return isLaidOutInLayers(shape) ? layoutInLayers(shape) : layoutByDagre(shape);
}

/** True if a graph is laid out in linear time, and not by dagre. */
export function isLaidOutInLayers({ nodes, edges }: GraphShape): boolean {
  return nodes.length > FEW.nodes || edges.length > FEW.edges;
}

/**
 * Returns positions by layers. A layer is a column; the gap before it has space for the labels of its incoming edges.
 */
function layoutInLayers({ nodes, edges }: GraphShape): Map<string, Position> {
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

function hasLabel({ when, on }: DefinitionEdge): boolean {
  return when !== undefined || on !== undefined;
}

function layoutByDagre({ nodes, edges }: GraphShape): Map<string, Position> {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: 'LR', ranksep: BETWEEN_LAYERS, nodesep: BETWEEN_NODES });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { id } of nodes) graph.setNode(toDagreKey(id), { width: NODE_WIDTH, height: NODE_HEIGHT });
  for (const edge of edges) {
    const [from, to] = [toDagreKey(edge.from), toDagreKey(edge.to)];
    if (edge.loop || !graph.hasNode(from) || !graph.hasNode(to)) continue;
    if (hasLabel(edge)) graph.setEdge(from, to, LABEL);
    else if (!graph.hasEdge(from, to)) graph.setEdge(from, to);
  }
  dagre.layout(graph);
  return new Map(nodes.map(({ id }) => [id, cornerOf(graph.node(toDagreKey(id)))]));
}

/**
 * Returns the saved positions of the nodes. If any node has none, returns the positions of the layout for all nodes.
 */
export function placeNodes(graph: Graph): Map<string, Position> {
  if (graph.nodes.some(({ position }) => position === undefined)) return layOutGraph(graph);
  return new Map(graph.nodes.map(({ id, position }) => [id, position ?? { x: 0, y: 0 }]));
}

/**
 * Returns a key that dagre can store: it keeps nodes as members of objects, which already have members such as
 * `constructor`.
 */
function toDagreKey(id: string): string {
  return `node ${id}`;
}

function cornerOf({ x, y }: Position): Position {
  return { x: Math.round(x - NODE_WIDTH / 2), y: Math.round(y - NODE_HEIGHT / 2) };
}
