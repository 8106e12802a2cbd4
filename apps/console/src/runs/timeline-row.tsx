import { Bot, ChevronRight, Hourglass, List, type LucideIcon, RotateCcw, Wrench } from 'lucide-react';
import { lookOf } from '../components/status-badge.js';
import { formatDuration } from '../components/time-ago.js';
import { placeBar, type TimelineRow, type TimelineScale, type TimelineSpan } from './gantt.js';
import type { PartKind } from './timeline-parts.js';

/** Classes of the first column, which stays in view when the bars are scrolled sideways. */
export const NAME_COLUMN = 'sticky left-0 z-10 w-[var(--name)] shrink-0 border-r bg-card text-left';

const COLORS: Readonly<Record<string, string>> = {
  running: 'bg-primary',
  'input-required': 'bg-warning',
  completed: 'bg-success',
  failed: 'bg-destructive',
};

const KINDS: Readonly<Record<PartKind, [Icon: LucideIcon, label: string]>> = {
  entry: [List, 'List entry'],
  model: [Bot, 'Model call'],
  tool: [Wrench, 'Tool call'],
  retry: [RotateCcw, 'Retry'],
  wait: [Hourglass, 'Wait'],
};

const TIME = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
});

interface RowProps {
  row: TimelineRow;
  scale: TimelineScale;
  now: number;
  selected: boolean;
  /** True if the row's parts are shown; absent if it has none to show. */
  open?: boolean;
  onToggle: () => void;
  onSelect: (name: string) => void;
}

/** Shows a row of a timeline: its name and duration, and its bars. */
export function TimelineRowView({ row, scale, now, selected, open, onToggle, onSelect }: RowProps) {
  const { name, kind, label, spans, took, error } = row;
  const attributes = kind === undefined ? { 'data-row': name, 'aria-pressed': selected } : { 'data-part': kind };
  return (
    <div className="relative flex h-full">
      {open !== undefined && (
        <span className="sticky left-0 z-20 w-0">
          <button
            type="button"
            aria-label={`Parts of ${name}`}
            aria-expanded={open}
            onClick={onToggle}
            className="flex h-full w-7 items-center justify-center text-muted-foreground hover:text-foreground"
          >
            <ChevronRight className={`size-3.5 ${open ? 'rotate-90' : ''}`} aria-hidden />
          </button>
        </span>
      )}
      <button
        type="button"
        {...attributes}
        title={error ?? label}
        onClick={() => onSelect(name)}
        className={`group flex min-w-0 grow items-center border-b hover:bg-muted/60 ${selected ? 'bg-muted' : ''}`}
      >
        <span
          className={`${NAME_COLUMN} flex h-full items-center gap-1.5 pr-2 group-hover:bg-muted ${
            kind === undefined ? 'pl-7' : 'pl-11 text-xs'
          } ${selected ? 'bg-muted' : ''}`}
        >
          <RowIcon row={row} />
          <span className="min-w-0 grow truncate">{label}</span>
          {took !== undefined && (
            <span data-took className="shrink-0 text-xs text-muted-foreground tabular-nums">
              {formatDuration(took)}
            </span>
          )}
        </span>
        <span className={`relative mr-3 min-w-0 grow ${kind === undefined ? 'h-4' : 'h-2.5'}`}>
          {spans.map((span, index) => (
            <BarView key={index} span={span} scale={scale} now={now} waits={kind === 'retry' || kind === 'wait'} />
          ))}
        </span>
      </button>
    </div>
  );
}

function RowIcon({ row: { kind, status } }: { row: TimelineRow }) {
  const look = lookOf(status);
  const [Icon, label] = kind === undefined ? [look.Icon, look.label] : KINDS[kind];
  const tone = status === 'failed' ? 'text-destructive' : '';
  return (
    <Icon
      className={`size-3.5 shrink-0 ${tone}`}
      aria-label={kind === undefined ? label : `${label}, ${look.label}`}
      role="img"
    />
  );
}

interface BarProps {
  span: TimelineSpan;
  scale: TimelineScale;
  now: number;
  /** True if the span is a wait. Its bar then has the color of the status `input-required`. */
  waits: boolean;
}

function BarView({ span, scale, now, waits }: BarProps) {
  const { from, to, status, label } = span;
  const { left, width } = placeBar(span, scale, now);
  const end = to === undefined ? '' : ` – ${TIME.format(new Date(to))}`;
  return (
    <span
      data-bar={status}
      data-from={from}
      data-to={to}
      title={`${label}: ${lookOf(status).label}, ${TIME.format(new Date(from))}${end}`}
      style={{ left: `${left}%`, width: `${width}%` }}
      className={`absolute inset-y-0 rounded-sm ${COLORS[waits ? 'input-required' : status] ?? 'bg-muted-foreground'}`}
    />
  );
}
