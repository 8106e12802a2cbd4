import type { EdgeChange } from '@xyflow/react';
import { useState } from 'react';

interface EdgeSelection {
  /** Ids of edges. */
  selected: ReadonlySet<string>;
  take: (changes: EdgeChange[]) => void;
}

export function useEdgeSelection(): EdgeSelection {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const take = (changes: EdgeChange[]): void => {
    const changed = new Map(changes.flatMap((it) => (it.type === 'select' ? [[it.id, it.selected] as const] : [])));
    if (changed.size === 0) return;
    setSelected((last) => {
      const kept = [...last].filter((id) => !changed.has(id));
      return new Set([...kept, ...[...changed].flatMap(([id, is]) => (is ? [id] : []))]);
    });
  };
  return { selected, take };
}
