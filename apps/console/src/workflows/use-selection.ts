import { useCallback, useState } from 'react';

/** Selected part of a workflow: a node, an edge, or neither. */
export interface Selection {
  node: string | undefined;
  edge: string | undefined;
  selectNode: (id: string | undefined) => void;
  selectEdge: (id: string) => void;
}

export function useSelection(): Selection {
  const [selected, setSelected] = useState<{ node?: string | undefined; edge?: string }>({});
  const selectNode = useCallback((node: string | undefined) => setSelected({ node }), []);
  const selectEdge = useCallback((edge: string) => setSelected({ edge }), []);
  return { node: selected.node, edge: selected.edge, selectNode, selectEdge };
}
