import { type RefObject, useCallback, useEffect, useEffectEvent, useLayoutEffect, useState } from 'react';

/** Maximum pixels from the end that still count as the end. */
const NEAR = 48;

export interface StickToEnd {
  /** True while the view follows added content. Scrolling up pauses that; returning to the end resumes it. */
  follows: boolean;
  toEnd: () => void;
}

/**
 * Keeps the end of growing content in view, unless the reader looks at an earlier part.
 * @param box the scrolling element; it must exist from the first render on
 * @param content changes whenever the content may have grown
 * @param initially true to begin at the end
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
    // A virtual list may restore a scroll position from before the last lines came.
    else if (follows) element.scrollTo({ top: element.scrollHeight });
  });
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    let before = { top: element.scrollTop, height: element.scrollHeight };
    // Added or remeasured content also scrolls: only an upward scroll at an unchanged height is the reader's.
    const handleScroll = (): void => {
      const { scrollTop: top, scrollHeight: height } = element;
      onScroll(element, top < before.top && height === before.height);
      before = { top, height };
    };
    element.addEventListener('scroll', handleScroll, { passive: true });
    return () => element.removeEventListener('scroll', handleScroll);
  }, [box]);
  return { follows, toEnd };
}
