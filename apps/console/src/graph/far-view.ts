import { createContext, use } from 'react';

/** Zoom below which no label of a card can be read, whatever its size. */
export const FAR_ZOOM = 0.2;

/** True while the canvas is zoomed out so far that no label can be read. */
export const FarView = createContext(false);

/** Returns true while the canvas is zoomed out so far that no label can be read: nodes and edges then show no details. */
export function useFarView(): boolean {
  return use(FarView);
}
