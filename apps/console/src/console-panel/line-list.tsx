import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowDown } from 'lucide-react';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { briefText } from '../components/text-start.js';
import type { ConsoleLine } from './console-line.js';

const LINE_HEIGHT = 20;
/** Maximum characters of a line that are drawn, since the output of a tool may be long. */
const MOST_TEXT = 2_000;
/** Maximum pixels from the end that still count as the end. */
const NEAR = 2 * LINE_HEIGHT;

/** Shows lines; only those in view are rendered. Follows the end until the person scrolls up. */
export function LineList({ lines }: { lines: readonly ConsoleLine[] }) {
  const box = useRef<HTMLDivElement>(null);
  const [pausedAt, setPausedAt] = useState<number>();
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => box.current,
    estimateSize: () => LINE_HEIGHT,
    overscan: 12,
  });
  const count = lines.length;
  useLayoutEffect(() => {
    if (pausedAt === undefined) box.current?.scrollTo({ top: box.current.scrollHeight });
  }, [count, pausedAt]);
  useEffect(() => {
    const element = box.current;
    if (!element || pausedAt !== undefined) return;
    // Shrinking the box also moves the end out of view.
    const observer = new ResizeObserver(() => element.scrollTo({ top: element.scrollHeight }));
    observer.observe(element);
    return () => observer.disconnect();
  }, [pausedAt]);
  const handleScroll = (): void => {
    const { scrollTop = 0, clientHeight = 0, scrollHeight = 0 } = box.current ?? {};
    const atEnd = scrollHeight - scrollTop - clientHeight < NEAR;
    setPausedAt((last) => (atEnd ? undefined : (last ?? count)));
  };
  const missed = pausedAt === undefined ? 0 : Math.max(0, count - pausedAt);
  return (
    <div className="relative min-h-0 grow">
      <div
        ref={box}
        role="log"
        aria-live="off"
        aria-label="Lines of the console"
        tabIndex={0}
        onScroll={handleScroll}
        className="h-full overflow-auto font-mono text-xs"
      >
        <div className="relative w-max min-w-full" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const line = lines[index];
            return line && <Line key={line.key} line={line} top={start} />;
          })}
        </div>
      </div>
      {pausedAt !== undefined && (
        <button
          type="button"
          onClick={() => setPausedAt(undefined)}
          className="absolute right-4 bottom-3 flex items-center gap-1.5 rounded-full border border-input bg-card px-3 py-1 shadow-lg"
        >
          <ArrowDown className="size-3.5" aria-hidden />
          {missed === 0 ? 'Paused' : `Paused · ${missed} new`}
        </button>
      )}
    </div>
  );
}

function Line({ line: { time, type, text, color }, top }: { line: ConsoleLine; top: number }) {
  return (
    <div
      data-line={type}
      style={{ transform: `translateY(${top}px)`, height: LINE_HEIGHT }}
      className="absolute inset-x-0 flex items-center gap-2 px-3 whitespace-nowrap"
    >
      <span className="text-muted-foreground">{time}</span>
      <span className={`${color} w-30 shrink-0`}>{type}</span>
      <span className={color}>{briefText(text, MOST_TEXT)}</span>
    </div>
  );
}
