import { X } from 'lucide-react';
import { Button } from '../components/button.js';
import { EdgeHeader } from '../graph/edge-header.js';
import type { EdgeOutcome } from '../graph/edge-look.js';
import { describeEdgeState } from './edge-causes.js';
import type { RunPicture } from './run-picture.js';

interface EdgeDetailsProps {
  picture: RunPicture;
  index: number;
  state: EdgeOutcome;
  onSelect: (node: string | undefined) => void;
}

/** Shows an edge of a run: its condition, and whether it was taken. */
export function EdgeDetails({ picture, index, state, onSelect }: EdgeDetailsProps) {
  const edge = picture.graph.edges[index];
  if (!edge) return null;
  const error = picture.edgeErrors.get(index);
  return (
    <div className="space-y-4" data-details={`edge ${index}`}>
      <EdgeHeader edge={edge} onSelect={onSelect}>
        <Button kind="quiet" aria-label="Close details" className="px-1.5!" onClick={() => onSelect(undefined)}>
          <X className="size-4" aria-hidden />
        </Button>
      </EdgeHeader>
      <p data-cause className="rounded-md border bg-muted/60 p-2.5 text-sm">
        {describeEdgeState(edge, state)}
      </p>
      {error !== undefined && (
        <p className="rounded-md border border-destructive/50 bg-destructive/5 p-2.5 text-sm break-words">{error}</p>
      )}
      <Condition title="Only when" expression={edge.when} />
      <Condition title="Repeats until" expression={edge.loop?.exit_when} />
    </div>
  );
}

function Condition({ title, expression }: { title: string; expression: string | undefined }) {
  if (expression === undefined) return null;
  return (
    <section aria-label={title} className="space-y-1">
      <h3 className="text-sm font-medium">{title}</h3>
      <pre tabIndex={0} className="overflow-x-auto rounded-md border bg-muted/50 p-2.5 font-mono text-xs">
        {expression}
      </pre>
    </section>
  );
}
