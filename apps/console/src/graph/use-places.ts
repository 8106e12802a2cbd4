import { useEffect, useMemo, useState } from 'react';
import type { Graph, Position } from './graph.js';
import { isQuicklyPlaced, placedAside } from './layout-aside.js';
import { placeNodes } from './layout.js';

type Places = ReadonlyMap<string, Position>;

/** Returns the positions of a graph's nodes; `undefined` while they are computed. */
export function usePlaces(graph: Graph): Places | undefined {
  const quick = useMemo(() => (isQuicklyPlaced(graph) ? placeNodes(graph) : undefined), [graph]);
  const [slow, setSlow] = useState<{ graph: Graph; places: Places }>();
  useEffect(() => {
    if (quick) return undefined;
    let current = true;
    void placedAside(graph).then((places) => current && setSlow({ graph, places }));
    return () => void (current = false);
  }, [graph, quick]);
  return quick ?? (slow?.graph === graph ? slow.places : undefined);
}
