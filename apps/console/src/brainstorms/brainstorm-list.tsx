import type { Schemas } from '#libs/client';
import type { GatewayEventFrame } from '../api/gateway.js';
import { getJson } from '../api/http.js';
import type { Rows } from '../api/use-pages.js';
import type { Column } from '../components/data-table.js';
import { ProcessList } from '../components/process-list.js';
import { StatusBadge } from '../components/status-badge.js';
import { Time } from '../components/time.js';
import { type BrainstormSummary, STATUSES } from './brainstorm.js';

const COLUMNS: readonly Column<BrainstormSummary>[] = [
  { title: 'Idea', cell: ({ idea }) => idea },
  { title: 'Status', className: 'w-36', cell: ({ status }) => <StatusBadge status={status} /> },
  { title: 'Iterations', className: 'w-28', cell: ({ iteration }) => iteration, wideOnly: true },
  { title: 'Started', className: 'w-40', cell: ({ createdAt }) => <Time at={createdAt} />, wideOnly: true },
  { title: 'Changed', className: 'w-40', cell: ({ updatedAt }) => <Time at={updatedAt} />, wideOnly: true },
];

const isOfBrainstorm = ({ agent }: GatewayEventFrame): boolean => agent === 'brainstorms';

async function fetchBrainstorms(query: URLSearchParams, signal: AbortSignal): Promise<Rows<BrainstormSummary>> {
  const page = await getJson<Schemas['BrainstormPage']>(`/api/brainstorms?${query}`, signal);
  return { rows: page.brainstorms, nextPageToken: page.nextPageToken };
}

export function BrainstormList() {
  return (
    <ProcessList
      kind="brainstorm"
      statuses={STATUSES}
      columns={COLUMNS}
      keyOf={({ brainstormId }) => brainstormId}
      fetchPage={fetchBrainstorms}
      live={{ filter: { streams: ['task'] }, concerns: isOfBrainstorm, spacing: 500 }}
      invitation="Give an idea to two agents or more: they build, review and refine it until they agree."
    />
  );
}
