import type { NodeChange } from '@xyflow/react';
import { useState } from 'react';
import type { Position } from './graph.js';
import type { CardNode } from './node-card.js';

interface NodeChanges {
  /** Positions of the nodes that are being dragged. */
  dragged: ReadonlyMap<string, Position>;
  take: (changes: NodeChange<CardNode>[]) => void;
}

/** Handles changes of nodes on the canvas. A drag is reported as a move (`onMove`) only when it ends. */
export function useNodeChanges(
  onSelect: (id: string) => void,
  onMove: ((moved: ReadonlyMap<string, Position>) => void) | undefined,
): NodeChanges {
  const [dragged, setDragged] = useState<ReadonlyMap<string, Position>>(new Map());
  const take = (changes: NodeChange<CardNode>[]): void => {
    const chosen = changes.findLast((change) => change.type === 'select' && change.selected);
    if (chosen?.type === 'select') onSelect(chosen.id);
    const moves = changes.filter((change) => change.type === 'position');
    const places = new Map(moves.flatMap(({ id, position }) => (position ? [[id, position] as const] : [])));
    if (places.size === 0) return;
    if (moves.some(({ dragging }) => dragging)) return setDragged(places);
    setDragged(new Map());
    onMove?.(places);
  };
  return { dragged, take };
}
