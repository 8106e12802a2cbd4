import { type FitViewOptions, getViewportForBounds, useReactFlow } from '@xyflow/react';
import { type RefObject, useEffect, useEffectEvent, useRef } from 'react';
import { NODE_HEIGHT, NODE_WIDTH, type Position } from './graph.js';

const MOVE_MS = 150;
/** Pixels of a node that must be inside the canvas for it to count as in view. */
const SEEN = { x: 60, y: 30 };
/** Minimum zoom that shows the whole graph after a node was added. Below it, labels are hard to read. */
const LEAST_ZOOM = 0.4;
const SMALLEST_ZOOM = 0.05;

interface InSightOptions {
  box: RefObject<HTMLDivElement | null>;
  places: ReadonlyMap<string, Position>;
  selected: string | undefined;
  /** All selected nodes; `undefined` if only one node can be selected. */
  group: ReadonlySet<string> | undefined;
  padding: NonNullable<FitViewOptions['padding']>;
  /** Number that the caller raises to have the whole graph shown. */
  fits: number;
  /** True if the newest node was dropped at a place that the person chose. */
  droppedRef: RefObject<boolean>;
}

/**
 * Keeps nodes in view:
 * - An added node, which is selected, is shown together with all other nodes, while they fit at a zoom of 40 % or more.
 * - Pasted nodes, which are selected, are shown in the same way. If the graph does not fit, the first of them is
 *   centered.
 * - A selected node that is out of view is centered.
 * - The whole graph is shown when `fits` changes.
 */
export function useInSight({ box, places, selected, group, padding, fits, droppedRef }: InSightOptions): void {
  const flow = useReactFlow();
  const before = useRef(places);
  const fitted = useRef(fits);
  const showAll = (leastZoom: number): boolean => {
    const frame = box.current?.getBoundingClientRect();
    if (!frame || places.size === 0) return false;
    const bounds = boundsOf(places);
    const view = getViewportForBounds(bounds, frame.width, frame.height, SMALLEST_ZOOM, 1, padding);
    if (view.zoom < leastZoom) return false;
    void flow.setViewport(view, { duration: getDuration() });
    return true;
  };
  /** True if the upper left `part.x` by `part.y` screen pixels of a node at `place` are inside the canvas. */
  const isWithin = (place: Position, part: Position): boolean => {
    const frame = box.current?.getBoundingClientRect();
    if (!frame) return true;
    const { x, y } = flow.flowToScreenPosition(place);
    return x > frame.left && x < frame.right - part.x && y > frame.top && y < frame.bottom - part.y;
  };
  const bring = useEffectEvent((id: string) => {
    const place = places.get(id);
    if (!place || isWithin(place, SEEN)) return;
    const center = { x: place.x + NODE_WIDTH / 2, y: place.y + NODE_HEIGHT / 2 };
    void flow.setCenter(center.x, center.y, { zoom: flow.getZoom(), duration: getDuration() });
  });
  const showAdded = useEffectEvent(() => {
    const zoom = flow.getZoom();
    const isSeen = [...places.values()].every((it) => isWithin(it, { x: NODE_WIDTH * zoom, y: NODE_HEIGHT * zoom }));
    return isSeen || showAll(LEAST_ZOOM);
  });
  const showPasted = useEffectEvent((known: ReadonlyMap<string, Position>) => {
    const [first, second] = [...(group ?? [])].filter((id) => places.has(id) && !known.has(id));
    if (first !== undefined && second !== undefined && !showAdded()) bring(first);
  });
  const fitAll = useEffectEvent(() => showAll(SMALLEST_ZOOM));
  const { viewportInitialized } = flow;
  useEffect(() => {
    if (selected !== undefined && viewportInitialized) bring(selected);
  }, [selected, viewportInitialized]);
  useEffect(() => {
    // Other new nodes, such as those of a model or of a redo, leave the view as it is.
    const isAdded = selected !== undefined && places.has(selected) && !before.current.has(selected);
    const isDropped = droppedRef.current;
    const known = before.current;
    before.current = places;
    droppedRef.current = false;
    if (!viewportInitialized) return;
    if (isAdded && !isDropped) showAdded();
    else showPasted(known);
  }, [places, selected, viewportInitialized, droppedRef]);
  useEffect(() => {
    if (fits === fitted.current) return;
    fitted.current = fits;
    fitAll();
  }, [fits]);
}

function boundsOf(places: ReadonlyMap<string, Position>) {
  const all = [...places.values()];
  const [left, right] = [Math.min, Math.max].map((pick) =>
    all.reduce((found, { x }) => pick(found, x), all[0]?.x ?? 0),
  );
  const [top, bottom] = [Math.min, Math.max].map((pick) =>
    all.reduce((found, { y }) => pick(found, y), all[0]?.y ?? 0),
  );
  return {
    x: left ?? 0,
    y: top ?? 0,
    width: (right ?? 0) - (left ?? 0) + NODE_WIDTH,
    height: (bottom ?? 0) - (top ?? 0) + NODE_HEIGHT,
  };
}

/** Returns the milliseconds of a movement; none if the person prefers reduced motion. */
function getDuration(): number {
  return matchMedia('(prefers-reduced-motion: reduce)').matches ? 0 : MOVE_MS;
}
