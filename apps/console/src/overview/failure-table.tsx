import { Link } from 'wouter';
import { type Column, DataTable } from '../components/data-table.js';
import { Time } from '../components/time.js';
import type { FailureCause } from './overview-api.js';

/**
 * Shows failed runs by cause. Each cause links to its last run, and each workflow of a cause to the failed runs of that
 * workflow.
 */
export function FailureTable({ causes }: { causes: readonly FailureCause[] }) {
  if (causes.length === 0) return <p className="text-sm text-muted-foreground">No run failed in this range.</p>;
  return (
    <div className="rounded-md border bg-card">
      <DataTable
        label="Failures"
        rows={causes}
        keyOf={({ node, kind, message }) => JSON.stringify([node, kind, message])}
        columns={COLUMNS}
      />
    </div>
  );
}

const COLUMNS: readonly Column<FailureCause>[] = [
  { title: 'Runs', cell: ({ runs }) => <span className="font-semibold tabular-nums">{runs}</span> },
  { title: 'Cause', cell: (cause) => <Cause cause={cause} />, className: 'w-1/2 max-w-0!' },
  { title: 'Workflows', cell: (cause) => <Workflows cause={cause} />, wideOnly: true },
  { title: 'First', cell: ({ firstSeen }) => <Time at={firstSeen} />, wideOnly: true },
  { title: 'Last', cell: ({ lastSeen }) => <Time at={lastSeen} /> },
];

function Cause({ cause: { node, kind, message, runId } }: { cause: FailureCause }) {
  return (
    <>
      <Link
        href={`~/runs/${encodeURIComponent(runId)}`}
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
