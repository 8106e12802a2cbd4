import { type Edge, MarkerType, type NodeHandle, Position as Side } from '@xyflow/react';
import { edgeId, type Graph, NODE_HEIGHT, NODE_WIDTH, type Position } from './graph.js';
import type { CardData, CardNode } from './node-card.js';
import { nodeLook } from '../nodes/node-looks.js';

export interface NodeState {
  places: ReadonlyMap<string, Position>;
  selected: string | undefined;
  editable: boolean;
  dataOf: ((id: string) => Partial<CardData>) | undefined;
}

const SIZE = { width: NODE_WIDTH, height: NODE_HEIGHT };
/** Known from the start, so that nodes out of sight need not be drawn to be measured. */
const HANDLE = { width: 12, height: 12, y: NODE_HEIGHT / 2 - 6 };
const HANDLES: NodeHandle[] = [
  { ...HANDLE, type: 'target', position: Side.Left, x: -6 },
  { ...HANDLE, type: 'source', position: Side.Right, x: NODE_WIDTH - 6 },
];

/** The nodes of a graph as the canvas takes them. */
export function flowNodes({ nodes }: Graph, { places, selected, editable, dataOf }: NodeState): CardNode[] {
  return nodes.map(({ id, type }) => ({
    id,
    type: 'card',
    position: places.get(id) ?? { x: 0, y: 0 },
    ...SIZE,
    measured: SIZE,
    handles: HANDLES,
    selected: id === selected,
    ariaLabel: `${nodeLook(type).label} ${id}`,
    data: { id, type, connectable: editable, ...dataOf?.(id) },
  }));
}

/** The edges of a graph as the canvas takes them. */
export function flowEdges({ edges }: Graph, selected: ReadonlySet<string>, dataOf: NodeState['dataOf']): Edge[] {
  return edges.map((edge) => ({
    id: edgeId(edge),
    source: edge.from,
    target: edge.to,
    selected: selected.has(edgeId(edge)),
    ariaLabel: `From ${edge.from} to ${edge.to}`,
    markerEnd: { type: MarkerType.ArrowClosed },
    animated: dataOf?.(edge.to).status === 'running',
  }));
}
