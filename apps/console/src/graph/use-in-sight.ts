import { useReactFlow } from '@xyflow/react';
import { type RefObject, useEffect, useEffectEvent } from 'react';
import { NODE_HEIGHT, NODE_WIDTH, type Position } from './graph.js';

const MOVE_MS = 150;
/** Pixels of a node that must be inside the canvas for it to count as in view. */
const SEEN = { x: 60, y: 30 };

/** Centers the selected node if it is out of view. */
export function useInSight(
  box: RefObject<HTMLDivElement | null>,
  selected: string | undefined,
  places: ReadonlyMap<string, Position>,
): void {
  const flow = useReactFlow();
  const bring = useEffectEvent((id: string) => {
    const place = places.get(id);
    const frame = box.current?.getBoundingClientRect();
    if (!place || !frame) return;
    const { x, y } = flow.flowToScreenPosition(place);
    const inside = x > frame.left && x < frame.right - SEEN.x && y > frame.top && y < frame.bottom - SEEN.y;
    const center = { x: place.x + NODE_WIDTH / 2, y: place.y + NODE_HEIGHT / 2 };
    if (!inside)
      void flow.setCenter(center.x, center.y, { zoom: flow.getZoom(), duration: wantsStillness() ? 0 : MOVE_MS });
  });
  useEffect(() => {
    if (selected !== undefined && flow.viewportInitialized) bring(selected);
  }, [selected, flow.viewportInitialized]);
}

/** True if the person prefers reduced motion. */
function wantsStillness(): boolean {
  return matchMedia('(prefers-reduced-motion: reduce)').matches;
}
