import { Link } from 'wouter';
import { type Column, DataTable, NameText } from '../components/data-table.js';
import { formatDuration } from '../components/time-ago.js';
import { costText, inputText, outputText, usageText } from '../components/usage-text.js';
import type { WorkflowLine } from './overview-api.js';

/** Shows runs, latency, tokens and cost by workflow. */
export function WorkflowTable({ lines }: { lines: readonly WorkflowLine[] }) {
  if (lines.length === 0) return <p className="text-sm text-muted-foreground">No run changed in this range.</p>;
  return (
    <div className="rounded-md border bg-card">
      <DataTable label="Workflows" rows={lines} keyOf={({ workflow }) => workflow} columns={COLUMNS} />
    </div>
  );
}

const COLUMNS: readonly Column<WorkflowLine>[] = [
  { title: 'Workflow', cell: ({ workflow }) => <RunsLink workflow={workflow} /> },
  { title: 'Runs', cell: ({ runs }) => Object.values(runs).reduce((sum, count) => sum + count, 0) },
  { title: 'Failed', cell: ({ runs }) => runs.failed },
  { title: 'Median', cell: ({ p50 }) => secondsText(p50), wideOnly: true },
  { title: '95 %', cell: ({ p95 }) => secondsText(p95), className: 'whitespace-nowrap' },
  { title: 'Input tokens', cell: ({ usage }) => (usage ? inputText(usage) : '–'), wideOnly: true },
  { title: 'Output tokens', cell: ({ usage }) => (usage ? outputText(usage) : '–'), wideOnly: true },
  {
    title: 'Cost',
    cell: ({ usage }) => (usage ? <span title={usageText(usage)}>{costText(usage)}</span> : '–'),
    wideOnly: true,
  },
];

function RunsLink({ workflow }: { workflow: string }) {
  return (
    <Link href={`~/runs?${new URLSearchParams({ q: workflow }).toString()}`} className="font-medium hover:underline">
      <NameText name={workflow} />
    </Link>
  );
}

function secondsText(seconds: number | undefined): string {
  return seconds === undefined ? '–' : formatDuration(seconds * 1000);
}
