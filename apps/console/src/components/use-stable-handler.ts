import { useCallback, useLayoutEffect, useRef } from 'react';

/**
 * Returns a function that stays the same between renderings, and calls the newest handler. A component that receives it
 * is not rendered only because the handler is another function. It must not be called during rendering.
 */
export function useStableHandler<Args extends unknown[], Result>(
  handler: (...args: Args) => Result,
): (...args: Args) => Result {
  const newest = useRef(handler);
  useLayoutEffect(() => {
    newest.current = handler;
  });
  return useCallback((...args: Args) => newest.current(...args), []);
}
