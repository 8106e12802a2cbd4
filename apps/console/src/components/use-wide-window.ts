import { useSyncExternalStore } from 'react';

/** As wide as where the navigation stands beside the view. */
const wide = matchMedia('(min-width: 48rem)');

/** Whether two things fit side by side. */
export function useWideWindow(): boolean {
  return useSyncExternalStore(subscribe, () => wide.matches);
}

function subscribe(listener: () => void): () => void {
  wide.addEventListener('change', listener);
  return () => wide.removeEventListener('change', listener);
}
