import { type FitViewOptions, MiniMap, Panel } from '@xyflow/react';
import { Map as MapIcon } from 'lucide-react';
import { Button } from '../components/button.js';
import type { CardNode } from './node-card.js';

/** Pixels between the graph and the border of the canvas, when the whole graph is shown. */
const AROUND = { x: '28px', top: '36px', bottom: '36px' } as const;
/** Pixels at the bottom that an open map takes. */
const MAP_ROOM = '185px';

/** Pixels between the graph and the border of the canvas while the map is open. */
const AROUND_WITH_MAP = { ...AROUND, bottom: MAP_ROOM } as const;

/** Returns the margin around the graph, in pixels, so that no node lies below the map. */
export function paddingFor(hasMap: boolean): NonNullable<FitViewOptions['padding']> {
  return hasMap ? AROUND_WITH_MAP : AROUND;
}

const COLORS: Readonly<Record<string, string>> = {
  completed: 'var(--success)',
  failed: 'var(--destructive)',
  running: 'var(--primary)',
  'input-required': 'var(--warning)',
};

interface GraphMapProps {
  open: boolean;
  onToggle: () => void;
}

/** Shows a map of a large graph, in the colors of the nodes' states, with a button that folds it away. */
export function GraphMap({ open, onToggle }: GraphMapProps) {
  return (
    <>
      {open && <MiniMap<CardNode> pannable zoomable ariaLabel="Map of the workflow" nodeColor={colorOf} />}
      <Panel position="bottom-right" className={open ? 'mb-[168px]!' : ''}>
        <Button aria-expanded={open} aria-label="Map" title={open ? 'Hide the map' : 'Show the map'} onClick={onToggle}>
          <MapIcon className="size-4" aria-hidden />
        </Button>
      </Panel>
    </>
  );
}

function colorOf({ data: { status, problems = [] } }: CardNode): string {
  if (problems.length > 0) return 'var(--destructive)';
  return COLORS[status ?? ''] ?? 'var(--input)';
}
