import { Link } from 'wouter';
import { type Column, DataTable } from '../components/data-table.js';
import { Time } from '../components/time.js';
import type { FailureCause, RangeName } from './overview-api.js';

/**
 * Shows failed runs by cause. Each cause links to its runs of the range, the time of its last run to that run, and each
 * workflow of a cause to the failed runs of that workflow.
 */
export function FailureTable({ causes, range }: { causes: readonly FailureCause[]; range: RangeName }) {
  if (causes.length === 0) return <p className="text-sm text-muted-foreground">No run failed in this range.</p>;
  return (
    <div className="rounded-md border bg-card">
      <DataTable label="Failures" rows={causes} keyOf={({ id }) => id} columns={columnsFor(range)} />
    </div>
  );
}

const columnsFor = (range: RangeName): readonly Column<FailureCause>[] => [
  { title: 'Runs', cell: ({ runs }) => <span className="font-semibold tabular-nums">{runs}</span> },
  { title: 'Cause', cell: (cause) => <Cause cause={cause} range={range} />, className: 'w-1/2 max-w-0!' },
  { title: 'Workflows', cell: (cause) => <Workflows cause={cause} />, wideOnly: true },
  { title: 'First', cell: ({ firstSeen }) => <Time at={firstSeen} />, wideOnly: true },
  { title: 'Last', cell: (cause) => <LastRun cause={cause} /> },
];

function Cause({ cause: { id, node, kind, message }, range }: { cause: FailureCause; range: RangeName }) {
  return (
    <>
      <Link
        href={`~/runs?${new URLSearchParams({ status: 'failed', range, cause: id }).toString()}`}
        title={message}
        className="line-clamp-2 font-medium wrap-anywhere hover:underline"
      >
        {message}
      </Link>
      <span className="block truncate text-xs text-muted-foreground">
        {node === undefined ? kind : `${node} · ${kind}`}
      </span>
    </>
  );
}

function LastRun({ cause: { runId, lastSeen } }: { cause: FailureCause }) {
  return (
    <Link href={`~/runs/${encodeURIComponent(runId)}`} className="underline">
      <Time at={lastSeen} />
    </Link>
  );
}

function Workflows({ cause: { workflows } }: { cause: FailureCause }) {
  return (
    <ul>
      {workflows.map((name) => (
        <li key={name}>
          <Link href={`~/runs?${failedRuns(name)}`} title={name} className="block max-w-48 truncate underline">
            {name}
          </Link>
        </li>
      ))}
    </ul>
  );
}

function failedRuns(workflow: string): string {
  return new URLSearchParams({ q: workflow, status: 'failed' }).toString();
}
