import { useSyncExternalStore } from 'react';
import { followMedia } from './media-query.js';

/** As wide as where the navigation stands beside the view. */
const wide = followMedia('(min-width: 48rem)');

/** Whether two things fit side by side. */
export function useWideWindow(): boolean {
  return useSyncExternalStore(wide.subscribe, wide.matches);
}
