import type { Schemas } from '#libs/client';
import { Plus } from 'lucide-react';
import { Link, useSearchParams } from 'wouter';
import type { GatewayEventFrame } from '../api/gateway.js';
import { getJson } from '../api/http.js';
import { useLive } from '../api/use-live.js';
import { usePages } from '../api/use-pages.js';
import { buttonClass } from '../components/button.js';
import { ConnectionNote } from '../components/connection-note.js';
import type { Column } from '../components/data-table.js';
import { EmptyState } from '../components/empty-state.js';
import { Select } from '../components/field.js';
import { PageHeader } from '../components/page-header.js';
import { PagedTable } from '../components/paged-table.js';
import { lookOf, StatusBadge } from '../components/status-badge.js';
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
const getBrainstormKey = ({ brainstormId }: BrainstormSummary): string => brainstormId;

/** Shows brainstorms, most recently updated first. The list updates live. */
export function BrainstormList() {
  const [search, setSearch] = useSearchParams();
  const status = search.get('status') ?? '';
  const queryKey = ['brainstorms', status];
  const pages = usePages(queryKey, getBrainstormKey, async (pageToken, signal) => {
    const query = new URLSearchParams({ ...(status && { status }), ...(pageToken && { pageToken }) });
    const page = await getJson<Schemas['BrainstormPage']>(`/api/brainstorms?${query}`, signal);
    return { rows: page.brainstorms, nextPageToken: page.nextPageToken };
  });
  const connection = useLive(queryKey, { streams: ['task'] }, { concerns: isOfBrainstorm, spacing: 500 });
  return (
    <div className="flex h-full flex-col">
      <PageHeader
        title="Brainstorms"
        aside={<ConnectionNote connection={connection} />}
        actions={
          <>
            <Select
              aria-label="Status"
              className="w-auto!"
              value={status}
              onChange={({ target }) => setSearch(target.value === '' ? {} : { status: target.value })}
            >
              <option value="">All</option>
              {STATUSES.map((it) => (
                <option key={it} value={it}>
                  {lookOf(it).label}
                </option>
              ))}
            </Select>
            <StartLink />
          </>
        }
      />
      <PagedTable
        label="Brainstorms"
        pages={pages}
        keyOf={getBrainstormKey}
        hrefOf={({ brainstormId }) => `/${brainstormId}`}
        columns={COLUMNS}
        empty={
          status === '' ? (
            <EmptyState title="No brainstorm yet" action={<StartLink />}>
              Give an idea to two agents or more: they build, review and refine it until they agree.
            </EmptyState>
          ) : (
            <EmptyState title={`No brainstorm is ${status}`}>Choose another status to see the others.</EmptyState>
          )
        }
      />
    </div>
  );
}

function StartLink() {
  return (
    <Link href="/new" className={buttonClass('primary')}>
      <Plus className="size-4" aria-hidden /> Start a brainstorm
    </Link>
  );
}
