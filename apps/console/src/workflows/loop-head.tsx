import { Repeat } from 'lucide-react';
import type { GraphLoop } from '../graph/loops.js';

/** Shows the head of a loop's frame, which selects the loop. */
export function LoopHead({ loop: { from, to, settings }, onSelect }: { loop: GraphLoop; onSelect: () => void }) {
  return (
    <button
      type="button"
      aria-label={`up to ${settings.max_iterations}×: loop from ${from} back to ${to}`}
      onClick={onSelect}
      className="flex items-center gap-1 rounded px-1 font-medium text-primary hover:bg-muted"
    >
      <Repeat className="size-3.5" aria-hidden /> up to {settings.max_iterations}×
    </button>
  );
}
