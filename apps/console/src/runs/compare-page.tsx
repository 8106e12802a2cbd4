import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { CheckField } from '../components/choice-fields.js';
import { type Column, DataTable } from '../components/data-table.js';
import { EmptyState } from '../components/empty-state.js';
import { Field, Select } from '../components/field.js';
import { PageHeader, Section } from '../components/page-header.js';
import { ResourceView } from '../components/resource-view.js';
import { StatusBadge } from '../components/status-badge.js';
import { formatDuration } from '../components/time-ago.js';
import { Time } from '../components/time.js';
import { historyHref } from '../workflows/revisions/revision-api.js';
import { compareHref, diffRuns, getRun, listRunsOf, type RunDiff } from './run-api.js';
import { differenceText } from './run-difference.js';

type RunSide = RunDiff['before'];
type NodePair = RunDiff['nodes'][number];
type NodeSide = NonNullable<NodePair['before']>;

/** Shows two runs side by side, with the differences between them. */
export function ComparePage() {
  const query = new URLSearchParams(useSearch());
  const [before, after] = [query.get('before') ?? '', query.get('after') ?? ''];
  return (
    <>
      <PageHeader title="Compare runs" up={{ label: 'Runs', href: '~/runs' }} />
      {after === '' ? (
        <EmptyState title="No run is chosen">Open a run, and choose to compare it with another one.</EmptyState>
      ) : (
        <div className="space-y-6 p-4">
          <OtherRun before={before} after={after} />
          {before !== '' && <Comparison key={`${before} ${after}`} before={before} after={after} />}
        </div>
      )}
    </>
  );
}

interface PairProps {
  before: string;
  after: string;
}

/** Shows a menu to choose the run `before`, among the newest runs of the same workflow. */
function OtherRun({ before, after }: PairProps) {
  const [, navigate] = useLocation();
  const { data = [] } = useQuery({
    queryKey: ['runs-beside', after],
    queryFn: async ({ signal }) => listRunsOf((await getRun(after, signal)).workflow, signal),
  });
  const others = data.filter(({ runId }) => runId !== after);
  const isListed = others.some(({ runId }) => runId === before);
  return (
    <div className="max-w-lg">
      <Field label="Run before">
        {(id) => (
          <Select id={id} value={before} onChange={({ target }) => navigate(compareHref(target.value, after))}>
            {before === '' && <option value="">Choose …</option>}
            {before !== '' && !isListed && <option value={before}>{before}</option>}
            {others.map(({ runId, revision, status, createdAt }) => (
              <option key={runId} value={runId}>
                {new Date(createdAt).toLocaleString()}, {status}
                {revision !== undefined && `, revision ${revision}`}
              </option>
            ))}
          </Select>
        )}
      </Field>
    </div>
  );
}

function Comparison({ before, after }: PairProps) {
  const resource = useQuery({
    queryKey: ['run-diff', before, after],
    queryFn: ({ signal }) => diffRuns(before, after, signal),
  });
  return (
    <ResourceView resource={resource}>
      {(diff) => (
        <>
          <p data-difference className="text-sm">
            The second run: {differenceText(diff)}
          </p>
          <Runs diff={diff} />
          {diff.inputs.length > 0 && <Inputs inputs={diff.inputs} />}
          <Nodes nodes={diff.nodes} />
          {diff.truncated && <p className="text-sm">Long values are cut.</p>}
        </>
      )}
    </ResourceView>
  );
}

interface Row {
  title: string;
  cell: (run: RunSide) => ReactNode;
}

const ROWS: readonly Row[] = [
  {
    title: 'Run',
    cell: ({ runId }) => (
      <Link href={`~/runs/${encodeURIComponent(runId)}`} className="underline wrap-anywhere">
        {runId}
      </Link>
    ),
  },
  { title: 'Workflow', cell: ({ workflow }) => workflow },
  {
    title: 'Revision',
    cell: ({ workflow, revision }) =>
      revision !== undefined && (
        <Link href={historyHref(workflow, revision)} className="underline">
          {revision}
        </Link>
      ),
  },
  { title: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
  { title: 'Began', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { title: 'Took', cell: ({ durationMs }) => durationMs !== undefined && formatDuration(durationMs) },
  { title: 'Error', cell: ({ error }) => error },
];

function Runs({ diff: { before, after } }: { diff: RunDiff }) {
  return (
    <DataTable
      label="Runs"
      rows={ROWS}
      keyOf={({ title }) => title}
      columns={[
        { title: 'Of the run', cell: ({ title }) => title },
        { title: 'Before', cell: ({ cell }) => cell(before), className: 'wrap-anywhere' },
        { title: 'After', cell: ({ cell }) => cell(after), className: 'wrap-anywhere' },
      ]}
    />
  );
}

function Inputs({ inputs }: { inputs: RunDiff['inputs'] }) {
  return (
    <Section title="Inputs that differ">
      <DataTable
        label="Inputs that differ"
        rows={inputs}
        keyOf={({ path }) => path}
        columns={[
          { title: 'Input', cell: ({ path }) => path },
          { title: 'Before', cell: ({ before }) => <Text value={before} /> },
          { title: 'After', cell: ({ after }) => <Text value={after} /> },
        ]}
      />
    </Section>
  );
}

const NODE_COLUMNS: readonly Column<NodePair>[] = [
  { title: 'Node', cell: ({ id }) => <span className="wrap-anywhere">{id}</span> },
  {
    title: 'Differs in',
    cell: ({ differs, before }) =>
      differs.includes('presence') ? (before ? 'only before' : 'only after') : differs.join(', '),
  },
  { title: 'Before', cell: ({ before }) => before && <Node node={before} />, className: 'align-top' },
  { title: 'After', cell: ({ after }) => after && <Node node={after} />, className: 'align-top' },
];

function Nodes({ nodes }: { nodes: readonly NodePair[] }) {
  const differing = nodes.filter(({ differs }) => differs.length > 0);
  const equal = nodes.length - differing.length;
  const [all, setAll] = useState(false);
  return (
    <Section title="Nodes">
      {equal > 0 && (
        <CheckField
          label={equal === 1 ? 'Also the equal node' : `Also the ${equal} equal nodes`}
          checked={all}
          onChange={setAll}
        />
      )}
      <DataTable label="Nodes" rows={all ? nodes : differing} keyOf={({ id }) => id} columns={NODE_COLUMNS} />
    </Section>
  );
}

function Node({ node: { status, attempts, durationMs, error, output } }: { node: NodeSide }) {
  return (
    <div className="space-y-1">
      <StatusBadge status={status} {...(durationMs !== undefined && { detail: formatDuration(durationMs) })} />
      {attempts > 1 && <p className="text-xs">{attempts} attempts</p>}
      <Text value={error} />
      <Text value={output} />
    </div>
  );
}

function Text({ value }: { value: string | undefined }) {
  if (value === undefined) return null;
  return <p className="font-mono text-xs whitespace-pre-wrap wrap-anywhere">{value}</p>;
}
