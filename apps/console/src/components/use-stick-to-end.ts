import { type RefObject, useCallback, useEffect, useEffectEvent, useLayoutEffect, useState } from 'react';

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
  const onScroll = useEffectEvent((element: HTMLElement, isReaders: boolean) => {
    const atEnd = element.scrollHeight - element.scrollTop - element.clientHeight <= NEAR;
    if (atEnd) setFollows(true);
    else if (isReaders) setFollows(false);
    // What draws long lists may set the place that it knew before the last lines came.
    else if (follows) element.scrollTo({ top: element.scrollHeight });
  });
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    let before = { top: element.scrollTop, height: element.scrollHeight };
    // What is added or measured anew moves things as well: only a way up in a text that stays as it is, is the reader's.
    const look = (): void => {
      const { scrollTop: top, scrollHeight: height } = element;
      onScroll(element, top < before.top && height === before.height);
      before = { top, height };
    };
    element.addEventListener('scroll', look, { passive: true });
    return () => element.removeEventListener('scroll', look);
  }, [box]);
  return { follows, toEnd };
}
