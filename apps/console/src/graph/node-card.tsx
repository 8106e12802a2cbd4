import { Handle, type Node, type NodeProps, Position } from '@xyflow/react';
import { TriangleAlert } from 'lucide-react';
import { lookOf } from '../components/status-badge.js';
import { Elapsed } from '../components/time.js';
import { nodeLook } from '../nodes/node-looks.js';

/** What a node of the canvas shows. */
export interface CardData extends Record<string, unknown> {
  id: string;
  type: string;
  /** Of the node in a run. */
  status?: string;
  startedAt?: string | undefined;
  finishedAt?: string | undefined;
  /** One line for each thing that is wrong with it. */
  problems?: readonly string[];
  connectable?: boolean;
}

export type CardNode = Node<CardData, 'card'>;

const RINGS: Readonly<Record<string, string>> = {
  running: 'ring-2 ring-primary',
  'input-required': 'ring-2 ring-warning',
  completed: 'ring-2 ring-success',
  failed: 'ring-2 ring-destructive',
};

export function NodeCard({ data, selected }: NodeProps<CardNode>) {
  const { id, type, status, problems = [], connectable = false } = data;
  const { Icon, label, box, accent, glow } = nodeLook(type);
  const ring = problems.length > 0 ? 'ring-2 ring-destructive' : (RINGS[status ?? ''] ?? '');
  const dim = status === 'pending' || status === 'skipped' ? 'opacity-80' : '';
  return (
    <div
      data-node={id}
      data-type={type}
      data-status={status}
      className={`flex h-full w-full items-center gap-2.5 rounded-lg border-2 px-2.5 text-left text-foreground ${box} ${ring} ${dim} ${selected || status === 'running' ? glow : ''}`}
    >
      <Handle type="target" position={Position.Left} isConnectable={connectable} className={HANDLE} />
      <span className={`flex size-8 shrink-0 items-center justify-center rounded-md ${accent}`}>
        <Icon className="size-4.5" aria-hidden />
      </span>
      <span className="min-w-0 grow">
        <span className="block truncate text-sm leading-tight font-medium">{id}</span>
        <span className="block truncate text-xs text-foreground/80">
          {status === undefined ? label : <StatusLine {...data} status={status} />}
        </span>
      </span>
      {problems.length > 0 && (
        <span title={problems.join('\n')} role="img" aria-label={`Problem: ${problems.join('; ')}`}>
          <TriangleAlert className="size-4 text-destructive" aria-hidden />
        </span>
      )}
      <Handle type="source" position={Position.Right} isConnectable={connectable} className={HANDLE} />
    </div>
  );
}

const HANDLE = 'size-3! border-2! border-background! bg-muted-foreground!';

function StatusLine({ status, startedAt, finishedAt }: CardData & { status: string }) {
  const { Icon, label } = lookOf(status);
  return (
    <span className="flex items-center gap-1">
      <Icon className="size-3 shrink-0" aria-hidden />
      {label}
      {startedAt !== undefined && status !== 'skipped' && (
        <>
          {' · '}
          <Elapsed from={startedAt} to={finishedAt} />
        </>
      )}
    </span>
  );
}
