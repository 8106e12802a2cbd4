import { useVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef } from 'react';
import { useNow } from '../components/clock.js';
import { lookOf } from '../components/status-badge.js';
import { formatDuration } from '../components/time-ago.js';
import { everyAttempt, timelineOf, type TimelineRow } from './gantt.js';
import type { RunPicture } from './run-picture.js';

const ROW_HEIGHT = 32;
const MARKS = [0, 0.25, 0.5, 0.75];

const COLORS: Readonly<Record<string, string>> = {
  running: 'bg-primary',
  'input-required': 'bg-warning',
  completed: 'bg-success',
  failed: 'bg-destructive',
};

interface TimelineViewProps {
  picture: RunPicture;
  selected: string | undefined;
  onSelect: (id: string) => void;
}

/** Shows a timeline: when each attempt of each node ran. Only rows in view are rendered. */
export function TimelineView({ picture, selected, onSelect }: TimelineViewProps) {
  const box = useRef<HTMLDivElement>(null);
  const now = useNow();
  const nodes = useMemo(() => everyAttempt(picture), [picture]);
  const { rows, span } = timelineOf(nodes, picture.startedAt, now);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 8,
  });
  return (
    <div className="flex h-full flex-col text-sm">
      <div className="flex shrink-0 border-b text-xs text-muted-foreground">
        <span className={`${NAME} py-1`}>Node</span>
        <span className="relative grow">
          {MARKS.map((mark) => (
            <span key={mark} className="absolute top-1 border-l pl-1" style={{ left: `${mark * 100}%` }}>
              {formatDuration(span * mark)}
            </span>
          ))}
        </span>
      </div>
      <div ref={box} role="region" aria-label="Timeline" tabIndex={0} className="min-h-0 grow overflow-y-auto">
        <div role="list" className="relative" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const row = rows[index];
            return (
              row && (
                <div
                  key={row.node.id}
                  role="listitem"
                  className="absolute inset-x-0"
                  style={{ transform: `translateY(${start}px)`, height: ROW_HEIGHT }}
                >
                  <Row row={row} selected={row.node.id === selected} onSelect={onSelect} />
                </div>
              )
            );
          })}
        </div>
      </div>
    </div>
  );
}

const NAME = 'w-36 shrink-0 truncate px-3 text-left md:w-48';

interface RowProps {
  row: TimelineRow;
  selected: boolean;
  onSelect: (id: string) => void;
}

function Row({ row: { node, bars }, selected, onSelect }: RowProps) {
  const { Icon, label } = lookOf(node.status);
  return (
    <button
      type="button"
      data-row={node.id}
      aria-pressed={selected}
      onClick={() => onSelect(node.id)}
      className={`flex h-full w-full items-center border-b hover:bg-muted/60 ${selected ? 'bg-muted' : ''}`}
    >
      <span className={`${NAME} flex items-center gap-1.5`}>
        <Icon className="size-3.5 shrink-0" aria-label={label} role="img" />
        <span className="truncate">{node.id}</span>
      </span>
      <span className="relative mr-3 h-4 grow">
        {bars.map(({ attempt: { attempt, status }, left, width }, index) => (
          <span
            key={index}
            data-bar={status}
            title={`Attempt ${attempt}: ${lookOf(status).label}`}
            style={{ left: `${left}%`, width: `${width}%` }}
            className={`absolute inset-y-0 rounded-sm ${COLORS[status] ?? 'bg-muted-foreground'}`}
          />
        ))}
      </span>
    </button>
  );
}
