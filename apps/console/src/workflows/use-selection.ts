import { useCallback, useState } from 'react';
import type { WorkflowField } from './draft-problems.js';

/** A setting of the workflow that is to get the focus. Each request is a new object. */
export interface FieldFocus {
  field: WorkflowField;
}

/** Selected part of a workflow: a node, an edge, or neither. */
export interface Selection {
  node: string | undefined;
  edge: string | undefined;
  /** The setting of the workflow that was selected last, while neither a node nor an edge is selected. */
  focus: FieldFocus | undefined;
  selectNode: (id: string | undefined) => void;
  selectEdge: (id: string) => void;
  /** Selects the workflow itself, and moves the focus to one of its settings. */
  selectField: (field: WorkflowField) => void;
}

export function useSelection(): Selection {
  const [selected, setSelected] = useState<{ node?: string | undefined; edge?: string; focus?: FieldFocus }>({});
  const selectNode = useCallback((node: string | undefined) => setSelected({ node }), []);
  const selectEdge = useCallback((edge: string) => setSelected({ edge }), []);
  const selectField = useCallback((field: WorkflowField) => setSelected({ focus: { field } }), []);
  return { node: selected.node, edge: selected.edge, focus: selected.focus, selectNode, selectEdge, selectField };
}
