import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowDown } from 'lucide-react';
import { type ReactNode, useRef } from 'react';
import { Button } from './button.js';
import { useStickToEnd } from './use-stick-to-end.js';

interface VirtualListProps<T> {
  /** Name of the list for screen readers. */
  label: string;
  items: readonly T[];
  keyOf: (item: T) => string | number;
  render: (item: T) => ReactNode;
  /** Estimated height of an item in pixels. */
  estimate: number;
}

/**
 * Shows a growing list of any length. It draws only the items in view, and follows the end of the list until the reader
 * scrolls up.
 */
export function VirtualList<T>({ label, items, keyOf, render, estimate }: VirtualListProps<T>) {
  const box = useRef<HTMLDivElement>(null);
  const content = useVirtualizer({
    count: items.length,
    getScrollElement: () => box.current,
    estimateSize: () => estimate,
    getItemKey: (index) => keyOf(items[index] as T),
    overscan: 8,
  });
  const { follows, toEnd } = useStickToEnd(box, content.getTotalSize());
  return (
    <div className="relative min-h-0 grow">
      <div ref={box} role="region" tabIndex={0} aria-label={label} className="h-full overflow-auto">
        <ul aria-label={label} style={{ height: content.getTotalSize() }} className="relative">
          {content.getVirtualItems().map(({ index, key, start }) => (
            <li
              key={key}
              data-index={index}
              ref={content.measureElement}
              aria-setsize={items.length}
              aria-posinset={index + 1}
              style={{ transform: `translateY(${start}px)` }}
              className="absolute top-0 left-0 w-full"
            >
              {render(items[index] as T)}
            </li>
          ))}
        </ul>
      </div>
      {!follows && (
        <Button className="absolute right-4 bottom-3 shadow-md" onClick={toEnd}>
          <ArrowDown className="size-4" aria-hidden /> To the end
        </Button>
      )}
    </div>
  );
}
