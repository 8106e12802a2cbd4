import { useSyncExternalStore } from 'react';
import { followMedia } from './media-query.js';

/** Media query for windows that are wide enough to show the navigation beside the view. */
const wide = followMedia('(min-width: 48rem)');

/** True if the window is wide enough for two panes side by side. */
export function useWideWindow(): boolean {
  return useSyncExternalStore(wide.subscribe, wide.matches);
}
