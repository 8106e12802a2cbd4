/** A media query whose changes React can follow. */
export interface MediaQuery {
  matches: () => boolean;
  subscribe: (listener: () => void) => () => void;
}

/**
 * Follows a media query.
 * - `matches` returns the value of the last change event.
 * - `MediaQueryList.matches` is not read again: if a change is first noticed by such a read, the browser sends no
 *   change event for it, and listeners would keep the old value.
 */
export function followMedia(query: string): MediaQuery {
  const listeners = new Set<() => void>();
  const list = matchMedia(query);
  let { matches } = list;
  list.addEventListener('change', (event) => {
    ({ matches } = event);
    for (const listener of listeners) listener();
  });
  return {
    matches: () => matches,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
