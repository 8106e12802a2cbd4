import { useQuery } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { useMemo, useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import type { GatewayEventFrame } from '../api/gateway.js';
import { useAction } from '../api/use-action.js';
import { useLive } from '../api/use-live.js';
import { type Pages, usePages } from '../api/use-pages.js';
import { Button, buttonClass } from '../components/button.js';
import { ConnectionNote } from '../components/connection-note.js';
import { EmptyState } from '../components/empty-state.js';
import { FieldError } from '../components/field.js';
import { PageHeader } from '../components/page-header.js';
import { PagedTable } from '../components/paged-table.js';
import { useRowSelection } from '../components/row-selection.js';
import { lookOf } from '../components/status-badge.js';
import { useStableHandler } from '../components/use-stable-handler.js';
import { BulkActions } from './bulk-actions.js';
import { downloadRuns, MOST_SELECTED } from './bulk-api.js';
import { countRuns, listRuns, RUN_PAGE, type RunPage, type RunSummary } from './run-api.js';
import { useRunColumns } from './run-columns.js';
import { apiQuery, countFilters, filterQuery, readRunFilter, type RunFilter } from './run-filter.js';
import { RunFilters } from './run-filters.js';

/** Types of events that change the rows of the list. */
const CHANGES = new Set(['done', 'input.required', 'input.received', 'run.woken']);
/** Minimum milliseconds between two loads of the list; a search, or a cause, costs the service more. */
const SPACING_MS = 500;
const SEARCH_SPACING_MS = 5_000;

const NO_RUNS: readonly RunSummary[] = [];
const idOf = ({ runId }: RunSummary): string => runId;

/** Shows the runs of all workflows, most recently updated first. The list updates live. */
export function RunList() {
  const [address, setAddress] = useSearchParams();
  const query = address.toString();
  const filter = useMemo(() => readRunFilter(new URLSearchParams(query)), [query]);
  const { pages, progress, connection } = useRunPages(filter);
  const rows = pages.rows ?? NO_RUNS;
  const columns = useRunColumns(rows);
  const workflows = useWorkflowNames(rows);
  const selection = useRowSelection(rows, idOf, MOST_SELECTED);
  const queryNow = (): URLSearchParams => apiQuery(filter, Date.now());
  const isFiltered = countFilters(filter) > 0;
  const isSearchOver = progress === undefined || progress.isFull;
  const changeFilter = useStableHandler((next: RunFilter) => setAddress(filterQuery(next), { replace: true }));
  return (
    <div className="flex h-full flex-col">
      <PageHeader
        title="Runs"
        aside={
          <>
            <RunTotal filter={filter} />
            <ConnectionNote connection={connection} />
          </>
        }
        actions={<ExportButton queryOf={queryNow} />}
      />
      <RunFilters filter={filter} workflows={workflows} onChange={changeFilter} />
      {selection.selected.length > 0 && (
        <BulkActions
          ids={selection.selected.map(idOf)}
          queryOf={isFiltered ? queryNow : undefined}
          onClear={selection.clearSelection}
        />
      )}
      <PagedTable
        label="Runs"
        pages={pages}
        keyOf={idOf}
        hrefOf={({ runId }) => `/${encodeURIComponent(runId)}`}
        columns={columns}
        empty={isFiltered ? <NoMatch /> : <NoRun />}
        selection={{ ...selection, labelOf: describeRun }}
        isEndless={isSearchOver}
      />
      {progress && !isSearchOver && pages.more && <SearchNote progress={progress} pages={pages} />}
    </div>
  );
}

/** Returns the names of the workflows of runs: the same array as long as the names are the same. */
function useWorkflowNames(runs: readonly RunSummary[]): readonly string[] {
  const names = [...new Set(runs.map(({ workflow }) => workflow))].join('\n');
  return useMemo(() => (names === '' ? [] : names.split('\n')), [names]);
}

/** Parameters of a filter whose runs the service counts. */
const COUNTED = new Set(['status', 'workflow', 'since', 'until']);

/** Shows how many runs the filter selects. A search has no count: it would have to read all runs. */
function RunTotal({ filter }: { filter: RunFilter }) {
  const isCounted = [...apiQuery(filter, 0).keys()].every((name) => COUNTED.has(name));
  const { data } = useQuery({
    queryKey: [...runsKey(filter), 'count'],
    queryFn: ({ signal }) => countRuns(apiQuery(filter, Date.now()), signal),
    enabled: isCounted,
    placeholderData: (before) => before,
  });
  if (!isCounted || !data) return null;
  const { runs, more } = data;
  return (
    <span data-total={runs} className="text-sm text-muted-foreground tabular-nums">
      {more && 'more than '}
      {runs.toLocaleString('en')} {runs === 1 ? 'run' : 'runs'}
    </span>
  );
}

/** Returns the key of the pages of a filter. All queries whose key begins with it are loaded again when a run changes. */
function runsKey(filter: RunFilter): [string, RunFilter] {
  return ['runs', filter];
}

/** Progress of a search through the runs. */
interface SearchProgress {
  searched: number;
  /** Time of the last change of the oldest run that was searched. */
  until: string | undefined;
  /** True if the newest page has RUN_PAGE rows. The list then loads the next page when its end comes into view. */
  isFull: boolean;
}

/** Loads the runs that a filter selects, page by page, and the first page again whenever a run changes. */
function useRunPages(filter: RunFilter) {
  const queryKey = runsKey(filter);
  const [progress, setProgress] = useState<SearchProgress>();
  const loadPage = async (pageToken: string | undefined, signal: AbortSignal) => {
    const page = await listRuns(apiQuery(filter, Date.now()), pageToken ?? '', signal);
    setProgress((before) => progressAfter(pageToken === undefined ? undefined : before, page));
    return { rows: page.runs, nextPageToken: page.nextPageToken };
  };
  const pages = usePages(queryKey, idOf, loadPage, ({ updatedAt }) => updatedAt);
  const spacing = filter.q === '' && filter.cause === '' ? SPACING_MS : SEARCH_SPACING_MS;
  const connection = useLive(queryKey, { streams: ['run'] }, { concerns: isChange, spacing });
  return { pages, progress, connection };
}

function progressAfter(before: SearchProgress | undefined, { search, runs }: RunPage): SearchProgress | undefined {
  if (!search) return undefined;
  const { searched, until } = search;
  return { searched: (before?.searched ?? 0) + searched, until, isFull: runs.length >= RUN_PAGE };
}

function isChange({ type, node_id }: GatewayEventFrame): boolean {
  return CHANGES.has(String(type)) || (type === 'node.started' && node_id === undefined);
}

function describeRun({ workflow, runId, status }: RunSummary): string {
  return `Select ${workflow} …${runId.slice(-8)}, ${lookOf(status).label}`;
}

/** Shows how far back a search has come, and a button that searches older runs. */
function SearchNote({ progress: { searched, until }, pages }: { progress: SearchProgress; pages: Pages<RunSummary> }) {
  return (
    <div className="flex shrink-0 flex-wrap items-center justify-center gap-3 border-t bg-card px-4 py-2 text-sm">
      <span role="status">
        {searched.toLocaleString('en')} runs searched{until && `, back to ${new Date(until).toLocaleString()}`}.
      </span>
      <Button disabled={pages.loading} onClick={pages.loadMore}>
        {pages.loading ? 'Searching …' : 'Search older runs'}
      </Button>
    </div>
  );
}

function ExportButton({ queryOf }: { queryOf: () => URLSearchParams }) {
  const { run, pending, error } = useAction();
  return (
    <>
      <FieldError error={error} />
      <Button disabled={pending} onClick={() => void run(() => downloadRuns(queryOf()))}>
        <Download className="size-4" aria-hidden /> {pending ? 'Exporting …' : 'CSV'}
      </Button>
    </>
  );
}

function NoMatch() {
  return (
    <EmptyState title="No run matches">
      Enter a part of an input, an error or a workflow's name, or choose other filters.
    </EmptyState>
  );
}

function NoRun() {
  const choose = (
    <Link href="~/workflows" className={buttonClass('primary')}>
      Choose a workflow
    </Link>
  );
  return (
    <EmptyState title="No run yet" action={choose}>
      Open a workflow and press Run.
    </EmptyState>
  );
}
