import { useRef } from 'react';
import { Markdown } from './markdown.js';
import { useStickToEnd } from './use-stick-to-end.js';

/** Shows a growing text, scrolled to its end until the reader scrolls up. */
export function LiveText({ text, label }: { text: string; label: string }) {
  const box = useRef<HTMLDivElement>(null);
  useStickToEnd(box, text);
  return (
    <div
      ref={box}
      tabIndex={0}
      role="group"
      aria-label={label}
      data-live-text
      className="max-h-72 overflow-auto max-md:max-h-none rounded-md border border-primary/40 bg-muted/50 p-2.5"
    >
      <Markdown text={text} />
    </div>
  );
}
