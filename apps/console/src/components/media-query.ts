/** A media query whose changes React can follow. */
export interface MediaQuery {
  matches: () => boolean;
  subscribe: (listener: () => void) => () => void;
}

/**
 * Follows a media query.
 * - `matches` is what the last change event said. The browser itself is never asked: for a change that it has told in an
 *   answer it sends no event, and whoever waits for one would keep the old value.
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
