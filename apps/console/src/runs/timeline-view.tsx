import { useVirtualizer } from '@tanstack/react-virtual';
import { Minus, Plus } from 'lucide-react';
import { useId, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { Button } from '../components/button.js';
import { useNow } from '../components/clock.js';
import { Select } from '../components/field.js';
import { formatDuration } from '../components/time-ago.js';
import { everyAttempt, scaleOf, shownRows, type TimelineFilter, timelineOf, type TimelineScale } from './gantt.js';
import type { RunPicture } from './run-picture.js';
import type { TimelinePart } from './timeline-parts.js';
import { NAME_COLUMN, TimelineRowView } from './timeline-row.js';

const ROW_HEIGHT = 32;
const MOST_ZOOM = 64;
/** Number of time marks along the part of the timeline that is visible at once. */
const MARKS = 4;
/** Nodes of a small run are open at first; those of a larger run are closed. */
const MOST_OPEN = 20;

interface TimelineViewProps {
  picture: RunPicture;
  parts: readonly TimelinePart[];
  selected: string | undefined;
  onSelect: (name: string) => void;
}

/**
 * Shows a timeline: when each node ran, and inside it the calls of models and tools, retries and waits. Only rows in
 * view are rendered.
 */
export function TimelineView({ picture, parts, selected, onSelect }: TimelineViewProps) {
  const { box, zoom, zoomTo } = useZoom();
  const tick = useNow();
  const now = picture.finishedAt === undefined ? tick : Date.parse(picture.finishedAt);
  const [filter, setFilter] = useState<TimelineFilter>('all');
  const [toggled, setToggled] = useState<ReadonlyMap<string, boolean>>(new Map());
  const nodes = useMemo(() => everyAttempt(picture), [picture]);
  const all = useMemo(() => timelineOf(nodes, parts, now), [nodes, parts, now]);
  const scale = useMemo(() => scaleOf(all, picture.startedAt, now), [all, picture.startedAt, now]);
  const isOpen = (node: string): boolean => toggled.get(node) ?? nodes.length <= MOST_OPEN;
  const rows = shownRows(all, filter, isOpen);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 8,
  });
  return (
    <div className="flex h-full flex-col text-sm">
      <Tools filter={filter} onFilter={setFilter} zoom={zoom} onZoom={zoomTo} />
      <div
        ref={box}
        role="region"
        aria-label="Timeline"
        tabIndex={0}
        className="min-h-0 grow overflow-auto [--name:11rem] md:[--name:15rem] xl:[--name:19rem]"
      >
        <div className="min-w-full" style={{ width: `calc(var(--name) + (100% - var(--name)) * ${zoom})` }}>
          <Marks scale={scale} zoom={zoom} />
          {rows.length === 0 && <p className="sticky left-0 w-fit p-3 text-muted-foreground">Nothing failed.</p>}
          <div role="list" className="relative" style={{ height: virtual.getTotalSize() }}>
            {virtual.getVirtualItems().map(({ index, start }) => {
              const row = rows[index];
              return (
                row && (
                  <div
                    key={row.key}
                    role="listitem"
                    className="absolute inset-x-0"
                    style={{ transform: `translateY(${start}px)`, height: ROW_HEIGHT }}
                  >
                    <TimelineRowView
                      row={row}
                      scale={scale}
                      now={now}
                      selected={row.kind === undefined && row.name === selected}
                      {...(filter === 'all' && row.parts.length > 0 && { open: isOpen(row.node) })}
                      onToggle={() => setToggled(new Map(toggled).set(row.node, !isOpen(row.node)))}
                      onSelect={onSelect}
                    />
                  </div>
                )
              );
            })}
          </div>
        </div>
      </div>
    </div>
  );
}

/** Manages the zoom of a scroll area. When the zoom changes, the point in the middle of the view stays there. */
function useZoom() {
  const box = useRef<HTMLDivElement>(null);
  const [zoom, setZoom] = useState(1);
  const middle = useRef(0.5);
  const zoomTo = (wanted: number): void => {
    const area = box.current;
    const next = Math.min(MOST_ZOOM, Math.max(1, wanted));
    if (area) middle.current = (area.scrollLeft + area.clientWidth / 2) / area.scrollWidth;
    setZoom(next);
  };
  useLayoutEffect(() => {
    const area = box.current;
    if (area) area.scrollLeft = middle.current * area.scrollWidth - area.clientWidth / 2;
  }, [zoom]);
  return { box, zoom, zoomTo };
}

interface ToolsProps {
  filter: TimelineFilter;
  onFilter: (filter: TimelineFilter) => void;
  zoom: number;
  onZoom: (zoom: number) => void;
}

function Tools({ filter, onFilter, zoom, onZoom }: ToolsProps) {
  const id = useId();
  return (
    <div className="flex shrink-0 flex-wrap items-center gap-2 border-b px-3 py-1">
      <label htmlFor={id} className="text-xs text-muted-foreground">
        Rows
      </label>
      <span>
        <Select id={id} value={filter} onChange={({ target }) => onFilter(target.value as TimelineFilter)}>
          <option value="all">All, by begin</option>
          <option value="failed">Failed</option>
          <option value="slowest">Slowest</option>
        </Select>
      </span>
      <span role="group" aria-label="Zoom" className="ml-auto flex items-center gap-1" data-zoom={zoom}>
        <Button kind="quiet" aria-label="Zoom out" disabled={zoom === 1} onClick={() => onZoom(zoom / 2)}>
          <Minus className="size-4" aria-hidden />
        </Button>
        <Button kind="quiet" aria-label="Zoom in" disabled={zoom === MOST_ZOOM} onClick={() => onZoom(zoom * 2)}>
          <Plus className="size-4" aria-hidden />
        </Button>
        <Button kind="quiet" disabled={zoom === 1} onClick={() => onZoom(1)}>
          Fit
        </Button>
      </span>
    </div>
  );
}

function Marks({ scale: { begin, end }, zoom }: { scale: TimelineScale; zoom: number }) {
  const count = MARKS * zoom;
  return (
    <div className="sticky top-0 z-20 flex border-b bg-card text-xs text-muted-foreground">
      <span className={`${NAME_COLUMN} px-3 py-1`}>Node</span>
      <span className="relative mr-3 grow">
        {Array.from({ length: count }, (_, index) => (
          <span key={index} className="absolute top-1 border-l pl-1" style={{ left: `${(index / count) * 100}%` }}>
            {formatDuration(((end - begin) * index) / count)}
          </span>
        ))}
      </span>
    </div>
  );
}
