import { MarkerType, type NodeHandle, Position as Side } from '@xyflow/react';
import { nodeLook } from '../nodes/node-looks.js';
import { changedEdgeLook, changeWord } from './change-look.js';
import { findDetours } from './edge-detour.js';
import { edgeLooks, type EdgeOutcome } from './edge-look.js';
import type { CanvasEdge } from './flow-edge.js';
import {
  edgeId,
  edgeIds,
  type Graph,
  type DefinitionEdge,
  isPlainEdge,
  NODE_HEIGHT,
  NODE_WIDTH,
  type Position,
} from './graph.js';
import { frameOf, loopsOf } from './loops.js';
import type { CardData, GraphChange } from './card-data.js';
import type { CardNode } from './node-card.js';

export interface NodeState {
  places: ReadonlyMap<string, Position>;
  selected: ReadonlySet<string>;
  editable: boolean;
  dataOf: ((id: string) => Partial<CardData>) | undefined;
}

const SIZE = { width: NODE_WIDTH, height: NODE_HEIGHT };
/**
 * Fixed size of the handles (connection points of a node), so that nodes out of view need not be rendered to be
 * measured.
 */
const HANDLE = { width: 12, height: 12, y: NODE_HEIGHT / 2 - 6 };
const HANDLES: NodeHandle[] = [
  { ...HANDLE, type: 'target', position: Side.Left, x: -6 },
  { ...HANDLE, type: 'source', position: Side.Right, x: NODE_WIDTH - 6 },
];

/** Data that the canvas element of a node shows. */
interface NodeContent {
  node: { id: string; type: string };
  place: Position | undefined;
  isSelected: boolean;
  editable: boolean;
  data: Partial<CardData> | undefined;
}

/** Creates the canvas element of a node. */
export function flowNode({ node: { id, type }, place, isSelected, editable, data }: NodeContent): CardNode {
  return {
    id,
    type: 'card',
    position: place ?? { x: 0, y: 0 },
    ...SIZE,
    measured: SIZE,
    handles: HANDLES,
    selected: isSelected,
    ariaLabel: `${nodeLook(type).label} ${id}${changeWord(data?.change)}`,
    data: { id, type, connectable: editable, ...data },
  };
}

/** State and problems of an edge, from a run or from a check of the workflow. */
export interface EdgeReport {
  state?: EdgeOutcome;
  problems?: readonly string[];
  /** Difference of the edge between two revisions. */
  change?: GraphChange;
  /** True while the edge's target is running. */
  moves?: boolean;
}

export interface EdgesState {
  places: ReadonlyMap<string, Position>;
  /** Ids of the selected edges. */
  selected: ReadonlySet<string>;
  onSelect: (id: string) => void;
  reportOf: ((index: number) => EdgeReport) | undefined;
}

/** Pixels between edges that connect the same nodes. */
const BETWEEN_EDGES = 30;
/** Pixels between a loop's edge and the bottom of its frame. */
const INSIDE = 18;

/** Returns the edges of a graph for the canvas. */
export function flowEdges(graph: Graph, { places, selected, onSelect, reportOf }: EdgesState): CanvasEdge[] {
  const ids = edgeIds(graph.edges);
  const looks = edgeLooks(graph, (index) => reportOf?.(index).state);
  const bottoms = new Map(loopsOf(graph.edges).map((loop) => [loop.edge, bottomOf(frameOf(loop, places))]));
  const ranks = ranksOf(graph.edges);
  const detours = findDetours(graph.edges, places);
  return graph.edges.flatMap((edge, index) => {
    const id = ids[index];
    const plain = looks[index];
    if (id === undefined || !plain) return [];
    const bottom = bottoms.get(index);
    const { problems = [], moves = false, change } = reportOf?.(index) ?? {};
    const look = changedEdgeLook(plain, change);
    const color = look.color === 'input' ? {} : { color: `var(--${look.color})` };
    return {
      id,
      type: 'flow',
      source: edge.from,
      target: edge.to,
      selected: selected.has(id),
      ariaLabel: [look.sentence, ...problems].join('. '),
      markerEnd: { type: MarkerType.ArrowClosed, ...color },
      animated: moves,
      data: {
        look,
        aside: (ranks[index] ?? 0) * BETWEEN_EDGES || (detours[index] ?? 0),
        problems,
        onSelect,
        ...(bottom !== undefined && { bottom }),
      },
    };
  });
}

/**
 * Returns each edge's rank among the edges from the same source to the same target, from 0. The rank determines the
 * edge's distance from the first of these edges. Edges without a condition come first; a loop's edge always has rank 0.
 */
function ranksOf(edges: readonly DefinitionEdge[]): number[] {
  const ways = Map.groupBy(edges.keys(), (index) => edgeId(edges[index] as DefinitionEdge));
  const ranks = edges.map(() => 0);
  for (const way of ways.values()) {
    const forward = way.filter((index) => edges[index]?.loop === undefined);
    const plainFirst = forward.toSorted((a, b) => Number(isPlain(edges[b])) - Number(isPlain(edges[a])));
    for (const [rank, index] of plainFirst.entries()) ranks[index] = rank;
  }
  return ranks;
}

function isPlain(edge: DefinitionEdge | undefined): boolean {
  return edge !== undefined && isPlainEdge(edge);
}

function bottomOf(frame: { y: number; height: number } | undefined): number {
  return frame ? frame.y + frame.height - INSIDE : 0;
}
