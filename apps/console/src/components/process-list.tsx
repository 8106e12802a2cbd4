import { Plus } from 'lucide-react';
import { Link, useSearchParams } from 'wouter';
import type { GatewayFilter } from '../api/gateway.js';
import { type LiveOptions, useLive } from '../api/use-live.js';
import { type Rows, usePages } from '../api/use-pages.js';
import { buttonClass } from './button.js';
import { ConnectionNote } from './connection-note.js';
import type { Column } from './data-table.js';
import { EmptyState } from './empty-state.js';
import { Select } from './field.js';
import { PageHeader } from './page-header.js';
import { PagedTable } from './paged-table.js';
import { lookOf } from './status-badge.js';

interface ProcessListProps<T> {
  /** Word for one process of the list, such as `brainstorm`, in the texts of the page; its plural adds an `s`. */
  kind: string;
  statuses: readonly string[];
  columns: readonly Column<T>[];
  keyOf: (row: T) => string;
  /** Fetches one page; `query` has the chosen status and the token of the page. */
  fetchPage: (query: URLSearchParams, signal: AbortSignal) => Promise<Rows<T>>;
  live: { filter: GatewayFilter } & LiveOptions;
  /** Sentence that is shown for an empty list, and invites the person to start the first process. */
  invitation: string;
}

/** Shows the processes of one kind, most recently updated first. The list updates live. */
export function ProcessList<T>({ kind, statuses, columns, keyOf, fetchPage, live, invitation }: ProcessListProps<T>) {
  const [search, setSearch] = useSearchParams();
  const status = search.get('status') ?? '';
  const title = `${kind.charAt(0).toUpperCase()}${kind.slice(1)}s`;
  const queryKey = [`${kind}s`, status];
  const pages = usePages(queryKey, keyOf, (pageToken, signal) =>
    fetchPage(new URLSearchParams({ ...(status && { status }), ...(pageToken && { pageToken }) }), signal),
  );
  const connection = useLive(queryKey, live.filter, live);
  const start = (
    <Link href="/new" className={buttonClass('primary')}>
      <Plus className="size-4" aria-hidden /> Start a {kind}
    </Link>
  );
  return (
    <div className="flex h-full flex-col">
      <PageHeader
        title={title}
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
              {statuses.map((it) => (
                <option key={it} value={it}>
                  {lookOf(it).label}
                </option>
              ))}
            </Select>
            {start}
          </>
        }
      />
      <PagedTable
        label={title}
        pages={pages}
        keyOf={keyOf}
        hrefOf={(row) => `/${keyOf(row)}`}
        columns={columns}
        empty={
          status === '' ? (
            <EmptyState title={`No ${kind} yet`} action={start}>
              {invitation}
            </EmptyState>
          ) : (
            <EmptyState title={`No ${kind} is ${status}`}>Choose another status to see the others.</EmptyState>
          )
        }
      />
    </div>
  );
}
