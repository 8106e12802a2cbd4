import type { NodeChange } from '@xyflow/react';
import { useState } from 'react';
import type { Position } from './graph.js';
import { noteIndex } from './note-elements.js';

/** New positions of nodes by their ids, and of notes by their indexes. */
export interface MovedParts {
  nodes: ReadonlyMap<string, Position>;
  notes: ReadonlyMap<number, Position>;
}

interface NodeChanges {
  /** Positions of the nodes and notes that are being dragged. */
  dragged: MovedParts;
  /** Handles React Flow's changes of nodes and notes. Only changes of positions have an effect. */
  applyPositions: (changes: readonly NodeChange[]) => void;
}

const NOTHING: MovedParts = { nodes: new Map(), notes: new Map() };

/** Handles moves of nodes and notes on the canvas. A drag is reported as a move (`onMove`) only when it ends. */
export function useNodeChanges(onMove: ((moved: MovedParts) => void) | undefined): NodeChanges {
  const [dragged, setDragged] = useState(NOTHING);
  const applyPositions = (changes: readonly NodeChange[]): void => {
    const moves = changes.filter((change) => change.type === 'position');
    const moved = movedParts(moves.flatMap(({ id, position }) => (position ? [[id, position]] : [])));
    if (moved.nodes.size + moved.notes.size === 0) return;
    if (moves.some(({ dragging }) => dragging)) return setDragged(moved);
    setDragged(NOTHING);
    onMove?.(moved);
  };
  return { dragged, applyPositions };
}

function movedParts(places: readonly [string, Position][]): MovedParts {
  const nodes = new Map<string, Position>();
  const notes = new Map<number, Position>();
  for (const [id, position] of places) {
    const index = noteIndex(id);
    if (index === undefined) nodes.set(id, position);
    else notes.set(index, position);
  }
  return { nodes, notes };
}
