import type { NodeSelectionChange } from '@xyflow/react';
import { noteIndex } from './note-elements.js';

/** Parts of a graph that are selected (true) or deselected (false); nodes and edges by their ids. */
export interface SelectionChanges {
  nodes?: ReadonlyMap<string, boolean>;
  edges?: ReadonlyMap<string, boolean>;
  /** Notes that are selected (true) or deselected (false), by index. */
  notes?: ReadonlyMap<number, boolean>;
}

interface Change {
  type: string;
}

/** Collects the nodes and notes that changes of the canvas select or deselect. */
export function nodeSelection(changes: readonly Change[]): SelectionChanges {
  const found = selectionOf(changes);
  const notes = [...found].flatMap(([id, is]) => {
    const index = noteIndex(id);
    return index === undefined ? [] : [[index, is] as const];
  });
  return { nodes: new Map([...found].filter(([id]) => noteIndex(id) === undefined)), notes: new Map(notes) };
}

/** Collects the edges that changes of the canvas select or deselect. */
export function edgeSelection(changes: readonly Change[]): SelectionChanges {
  return { edges: selectionOf(changes) };
}

function selectionOf(changes: readonly Change[]): Map<string, boolean> {
  const selected = changes.filter((change): change is NodeSelectionChange => change.type === 'select');
  return new Map(selected.map(({ id, selected: is }) => [id, is]));
}
