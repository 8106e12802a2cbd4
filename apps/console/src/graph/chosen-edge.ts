import type { EdgeChange } from '@xyflow/react';

/** Returns the id of the edge that was selected last, if any. */
export function chosenEdge(changes: readonly EdgeChange[]): string | undefined {
  const chosen = changes.findLast((change) => change.type === 'select' && change.selected);
  return chosen?.type === 'select' ? chosen.id : undefined;
}
