import { useCallback, useMemo, useState } from 'react';
import type { SelectionChanges } from '../graph/selected-elements.js';
import type { WorkflowField } from './draft-problems.js';

/** A setting of the workflow that is to get the focus. Each request is a new object. */
export interface FieldFocus {
  field: WorkflowField;
}

/** Selected parts of a workflow. */
export interface SelectedParts {
  /** Ids of the selected nodes. */
  nodes: ReadonlySet<string>;
  /** Ids of the selected edges. */
  edges: ReadonlySet<string>;
  /** Indexes of the selected notes. */
  notes: ReadonlySet<number>;
}

export interface Selection extends SelectedParts {
  /** The selected node, if it is the only selected node or note. */
  node: string | undefined;
  /** The selected edge, if nothing else is selected. */
  edge: string | undefined;
  /** The setting of the workflow that was selected last, while nothing is selected. */
  focus: FieldFocus | undefined;
  /** Selects one node, or the workflow itself. */
  selectNode: (id: string | undefined) => void;
  selectEdge: (id: string) => void;
  /** Selects the workflow itself, and moves the focus to one of its settings. */
  selectField: (field: WorkflowField) => void;
  /** Selects these parts, and no others. */
  selectParts: (parts: Partial<SelectedParts>) => void;
  /** Adds parts to the selection, or removes them. */
  applyChanges: (changes: SelectionChanges) => void;
}

interface SelectionState extends SelectedParts {
  focus?: FieldFocus;
}

const NOTHING: SelectionState = { nodes: new Set(), edges: new Set(), notes: new Set() };

/** Manages the selected nodes, edges and notes of a workflow. */
export function useSelection(): Selection {
  const [selected, setSelected] = useState(NOTHING);
  const selectNode = useCallback(
    (id: string | undefined) => setSelected(id === undefined ? NOTHING : { ...NOTHING, nodes: new Set([id]) }),
    [],
  );
  const selectEdge = useCallback((id: string) => setSelected({ ...NOTHING, edges: new Set([id]) }), []);
  const selectField = useCallback((field: WorkflowField) => setSelected({ ...NOTHING, focus: { field } }), []);
  const selectParts = useCallback((parts: Partial<SelectedParts>) => setSelected({ ...NOTHING, ...parts }), []);
  const applyChanges = useCallback(
    ({ nodes, edges, notes }: SelectionChanges) =>
      setSelected((last) => ({
        nodes: changeSet(last.nodes, nodes),
        edges: changeSet(last.edges, edges),
        notes: changeSet(last.notes, notes),
      })),
    [],
  );
  return useMemo(
    () => ({
      ...selected,
      node: selected.nodes.size === 1 && selected.notes.size === 0 ? [...selected.nodes][0] : undefined,
      edge: isOneEdge(selected) ? [...selected.edges][0] : undefined,
      focus: selected.focus,
      ...{ selectNode, selectEdge, selectField, selectParts, applyChanges },
    }),
    [selected, selectNode, selectEdge, selectField, selectParts, applyChanges],
  );
}

function isOneEdge({ nodes, edges, notes }: SelectedParts): boolean {
  return edges.size === 1 && nodes.size === 0 && notes.size === 0;
}

function changeSet<T>(before: ReadonlySet<T>, changes: ReadonlyMap<T, boolean> | undefined): ReadonlySet<T> {
  if (!changes || changes.size === 0) return before;
  const after = new Set(before);
  for (const [part, isSelected] of changes) {
    if (isSelected) after.add(part);
    else after.delete(part);
  }
  return after;
}
