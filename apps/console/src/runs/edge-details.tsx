import { ArrowRight, Repeat, X } from 'lucide-react';
import { Button } from '../components/button.js';
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
  const Icon = edge.loop ? Repeat : ArrowRight;
  const error = picture.edgeErrors.get(index);
  return (
    <div className="space-y-4" data-details={`edge ${index}`}>
      <header className="flex items-center gap-2.5">
        <span className="flex size-8 shrink-0 items-center justify-center rounded-md bg-muted-foreground text-background">
          <Icon className="size-4.5" aria-hidden />
        </span>
        <div className="min-w-0 grow">
          <h2 className="leading-tight font-semibold">{edge.loop ? 'Loop' : 'Edge'}</h2>
          <p className="truncate text-xs text-muted-foreground">
            <NodeLink id={edge.from} onSelect={onSelect} /> {edge.loop ? 'back to' : 'to'}{' '}
            <NodeLink id={edge.to} onSelect={onSelect} />
          </p>
        </div>
        <Button kind="quiet" aria-label="Close details" className="px-1.5!" onClick={() => onSelect(undefined)}>
          <X className="size-4" aria-hidden />
        </Button>
      </header>
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

function NodeLink({ id, onSelect }: { id: string; onSelect: (id: string) => void }) {
  return (
    <button type="button" className="underline" onClick={() => onSelect(id)}>
      {id}
    </button>
  );
}
