import { type RefObject, useCallback, useEffect, useLayoutEffect, useState } from 'react';

/** How far from the end still counts as at the end, in pixels. */
const NEAR = 48;

export interface StickToEnd {
  /** Whether it follows what is added; a reader who scrolls up pauses that, and one who returns to the end resumes it. */
  follows: boolean;
  toEnd: () => void;
}

/**
 * Keeps the end of a growing text in view, unless the reader looks at something before it.
 * @param box the element that scrolls; it must be there from the first render on
 * @param content changes whenever the text may have grown
 */
export function useStickToEnd(box: RefObject<HTMLElement | null>, content: unknown, initially = true): StickToEnd {
  const [follows, setFollows] = useState(initially);
  const toEnd = useCallback(() => {
    setFollows(true);
    box.current?.scrollTo({ top: box.current.scrollHeight });
  }, [box]);
  useLayoutEffect(() => {
    if (follows) box.current?.scrollTo({ top: box.current.scrollHeight });
  }, [box, content, follows]);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    let before = element.scrollTop;
    // What is added moves the end away from the reader as well: only a way up is the reader's.
    const look = (): void => {
      const atEnd = element.scrollHeight - element.scrollTop - element.clientHeight <= NEAR;
      if (atEnd) setFollows(true);
      else if (element.scrollTop < before) setFollows(false);
      before = element.scrollTop;
    };
    element.addEventListener('scroll', look, { passive: true });
    return () => element.removeEventListener('scroll', look);
  }, [box]);
  return { follows, toEnd };
}
