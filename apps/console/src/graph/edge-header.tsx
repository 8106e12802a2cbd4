import { ArrowRight, Repeat } from 'lucide-react';
import type { ReactNode } from 'react';
import type { DefinitionEdge } from './graph.js';

interface EdgeHeaderProps {
  edge: Pick<DefinitionEdge, 'from' | 'to' | 'loop'>;
  onSelect: (node: string) => void;
  /** Buttons at the end of the header. */
  children?: ReactNode;
}

/** Shows what an edge or a loop connects; both of its nodes can be selected. */
export function EdgeHeader({ edge: { from, to, loop }, onSelect, children }: EdgeHeaderProps) {
  const Icon = loop ? Repeat : ArrowRight;
  return (
    <header className="flex items-center gap-2.5">
      <span className="flex size-8 shrink-0 items-center justify-center rounded-md bg-muted-foreground text-background">
        <Icon className="size-4.5" aria-hidden />
      </span>
      <div className="min-w-0 grow">
        <h2 className="leading-tight font-semibold">{loop ? 'Loop' : 'Edge'}</h2>
        <p className="truncate text-xs text-muted-foreground">
          <NodeLink id={from} onSelect={onSelect} /> {loop ? 'back to' : 'to'} <NodeLink id={to} onSelect={onSelect} />
        </p>
      </div>
      {children}
    </header>
  );
}

function NodeLink({ id, onSelect }: { id: string; onSelect: (id: string) => void }) {
  return (
    <button type="button" className="underline" onClick={() => onSelect(id)}>
      {id}
    </button>
  );
}
