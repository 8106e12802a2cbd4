import { Handle, type Node, type NodeProps, Position } from '@xyflow/react';
import { TriangleAlert } from 'lucide-react';
import { memo } from 'react';
import { nodeLook } from '../nodes/node-looks.js';
import type { BarPart, CardBadge, CardData } from './card-data.js';
import { CardStatus } from './card-status.js';
import { useFarView } from './far-view.js';
import { changeLook } from './change-look.js';

export type CardNode = Node<CardData, 'card'>;

const RINGS: Readonly<Record<string, string>> = {
  running: 'ring-2 ring-primary',
  'input-required': 'ring-2 ring-warning',
  completed: 'ring-2 ring-success',
  failed: 'ring-2 ring-destructive',
};

/** Sizes of a card's labels. They grow when the canvas is zoomed out, to stay at 11 pixels as long as they fit. */
const ID_SIZE = 'clamp(0.875rem, calc(11px / var(--zoom, 1)), 1.75rem)';
const TEXT_SIZE = 'clamp(0.75rem, calc(11px / var(--zoom, 1)), 1rem)';

/** Shows a node as a card. In a far view, where no label can be read, the card is a plain box. */
export const NodeCard = memo(({ data, selected }: NodeProps<CardNode>) => {
  const isFar = useFarView();
  const { id, type, status, stacked = false, hollow = false, problems = [], change, connectable = false } = data;
  const { box, glow } = nodeLook(type);
  const ring =
    problems.length > 0 ? 'ring-2 ring-destructive' : change ? changeLook(change).card : (RINGS[status ?? ''] ?? '');
  const shape = hollow
    ? 'border-dashed bg-transparent!'
    : status === 'pending' || status === 'skipped'
      ? 'opacity-80'
      : '';
  const isLive = connectable && !isFar;
  return (
    <div
      data-node={id}
      data-type={type}
      data-status={status}
      data-change={change}
      className={`flex h-full w-full items-center gap-2.5 rounded-lg border-2 px-2.5 text-left text-foreground ${box} ${ring} ${shape} ${selected || status === 'running' ? glow : ''}`}
    >
      {stacked && <Stack />}
      <CardHandle type="target" isLive={isLive} />
      {!isFar && <CardContent data={data} />}
      <CardHandle type="source" isLive={isLive} />
    </div>
  );
});

/** Shows the labels of a card. */
function CardContent({ data }: { data: CardData }) {
  const { id, type, status, badges = [], problems = [], warnings = [] } = data;
  const { Icon, label, accent } = nodeLook(type);
  return (
    <>
      <span className={`flex size-8 shrink-0 items-center justify-center rounded-md ${accent}`}>
        <Icon className="size-4.5" aria-hidden />
      </span>
      <span className="min-w-0 grow">
        <span className="block truncate leading-tight font-medium" style={{ fontSize: ID_SIZE }}>
          {id}
        </span>
        <span className="@container block truncate leading-snug text-foreground/80" style={{ fontSize: TEXT_SIZE }}>
          {status === undefined ? label : <CardStatus {...data} status={status} />}
        </span>
      </span>
      {problems.length > 0 && (
        <span title={problems.join('\n')} role="img" aria-label={`Problem: ${problems.join('; ')}`}>
          <TriangleAlert className="size-4 text-destructive" aria-hidden />
        </span>
      )}
      {problems.length === 0 && warnings.length > 0 && (
        <span title={warnings.join('\n')} role="img" aria-label={`Warning: ${warnings.join('; ')}`}>
          <TriangleAlert className="size-4 text-warning" aria-hidden />
        </span>
      )}
      {badges.length > 0 && <Badges badges={badges} />}
      {data.bar && <Bar parts={data.bar} />}
    </>
  );
}

interface CardHandleProps {
  type: 'source' | 'target';
  /** True if edges can be drawn from and to the handle. */
  isLive: boolean;
}

/**
 * Shows the point at which edges begin or end. A handle to which no edge can be drawn is a plain element: React Flow
 * measures it, but it follows no state of the canvas.
 */
function CardHandle({ type, isLive }: CardHandleProps) {
  const position = type === 'target' ? Position.Left : Position.Right;
  if (isLive) return <Handle type={type} position={position} className={HANDLE} />;
  return (
    <div data-handlepos={position} className={`react-flow__handle react-flow__handle-${position} ${type} ${HANDLE}`} />
  );
}

const HANDLE = 'size-3! border-2! border-background! bg-muted-foreground!';

/** Shows two card outlines behind a card, like a stack, for a node that runs once for each entry of a list. */
function Stack() {
  return [1, 2].map((depth) => (
    <span
      key={depth}
      aria-hidden
      style={{ transform: `translate(${depth * 4}px, ${depth * 4}px)` }}
      className="pointer-events-none absolute inset-0 rounded-lg border-r-2 border-b-2 border-muted-foreground/60"
    />
  ));
}

function Badges({ badges }: { badges: readonly CardBadge[] }) {
  return (['start', 'end'] as const).map((end) => (
    <span key={end} className={`absolute -top-2.5 flex max-w-full gap-1 ${end === 'start' ? 'left-1.5' : 'right-1.5'}`}>
      {badges
        .filter(({ at }) => at === end)
        .map(({ text, title, tone }) => (
          <span
            key={text}
            data-badge={text}
            title={title}
            className={`truncate rounded-full border bg-card px-1.5 text-[10px] leading-4 font-medium ${tone ? 'border-warning/60 text-warning' : 'text-foreground'}`}
          >
            {text}
          </span>
        ))}
    </span>
  ));
}

const BAR_COLORS: Readonly<Record<string, string>> = {
  completed: 'bg-success',
  failed: 'bg-destructive',
  running: 'bg-primary',
  'input-required': 'bg-warning',
};

function Bar({ parts }: { parts: readonly BarPart[] }) {
  return (
    <span
      aria-hidden
      className="absolute inset-x-2 bottom-0.5 flex h-1 overflow-hidden rounded-full bg-muted-foreground/25"
    >
      {parts.map(({ status, count }) => (
        <span key={status} style={{ flexGrow: count }} className={`h-full ${BAR_COLORS[status] ?? ''}`} />
      ))}
    </span>
  );
}
