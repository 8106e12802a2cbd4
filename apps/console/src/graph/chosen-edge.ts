import type { EdgeChange } from '@xyflow/react';

/** What the canvas says of its edges: only which one was chosen is of interest. */
export function chosenEdge(changes: readonly EdgeChange[]): string | undefined {
  const chosen = changes.findLast((change) => change.type === 'select' && change.selected);
  return chosen?.type === 'select' ? chosen.id : undefined;
}
