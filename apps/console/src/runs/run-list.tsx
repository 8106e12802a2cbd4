import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useSearchParams } from 'wouter';
import { textStart } from '../components/text-start.js';
import type { GatewayEventFrame } from '../api/gateway.js';
import { useLive } from '../api/use-live.js';
import { buttonClass } from '../components/button.js';
import { ConnectionNote } from '../components/connection-note.js';
import { type Column, DataTable, NameText } from '../components/data-table.js';
import { EmptyState } from '../components/empty-state.js';
import { Input, Select } from '../components/field.js';
import { lookOf, StatusBadge } from '../components/status-badge.js';
import { localTime } from '../components/local-time.js';
import { PageHeader } from '../components/page-header.js';
import { MoreButton, ResourceView } from '../components/resource-view.js';
import { Elapsed, Time } from '../components/time.js';
import { listRuns, RUN_STATUSES, type RunFilter, type RunSummary } from './run-api.js';

/** Types of events that change the rows of the list. */
const CHANGES = new Set(['done', 'input.required', 'input.received', 'run.woken']);
/** Maximum characters of a search that the service accepts. */
const LONGEST_SEARCH = 100;
/** Maximum characters of a run's inputs that are shown. */
const LONGEST_INPUTS = 200;
/** CSS classes of a column that takes at most a quarter of the table, whatever its content. */
const SHORT = 'w-1/4 max-w-0! truncate';
const UNBROKEN = 'whitespace-nowrap';
/** Minimum milliseconds between two loads of the list. */
const SPACING_MS = 500;

/** Shows the runs of all workflows, most recently updated first. The list updates live. */
export function RunList() {
  const [search, setSearch] = useSearchParams();
  const filter: RunFilter = {
    q: search.get('q') ?? search.get('workflow') ?? '',
    status: search.get('status') ?? '',
  };
  const queryKey = ['runs', filter];
  const resource = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => listRuns(filter, pageParam, signal),
    initialPageParam: '',
    getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
  });
  const connection = useLive(queryKey, { streams: ['run'] }, { concerns: isChange, spacing: SPACING_MS });
  const changeFilter = (member: Partial<RunFilter>): void => {
    const next = Object.entries({ ...filter, ...member }).filter(([, value]) => value !== '');
    setSearch(new URLSearchParams(next), { replace: true });
  };
  return (
    <>
      <PageHeader
        title="Runs"
        aside={<ConnectionNote connection={connection} />}
        actions={
          <>
            <Input
              type="search"
              aria-label="Workflow or run"
              placeholder="Workflow or run id …"
              value={filter.q}
              onChange={(event) => changeFilter({ q: textStart(event.target.value, LONGEST_SEARCH) })}
              className="w-44!"
            />
            <Select
              aria-label="Status"
              value={filter.status}
              onChange={(event) => changeFilter({ status: event.target.value })}
              className="w-36!"
            >
              <option value="">Every status</option>
              {RUN_STATUSES.map((status) => (
                <option key={status} value={status}>
                  {lookOf(status).label}
                </option>
              ))}
            </Select>
          </>
        }
      />
      <ResourceView resource={resource}>
        {({ pages }) => (
          <>
            <RunTable runs={pages.flatMap(({ runs }) => runs)} filtered={filter.q !== '' || filter.status !== ''} />
            <MoreButton list={resource} />
          </>
        )}
      </ResourceView>
    </>
  );
}

function isChange({ type, node_id }: GatewayEventFrame): boolean {
  return CHANGES.has(String(type)) || (type === 'node.started' && node_id === undefined);
}

function RunTable({ runs, filtered }: { runs: readonly RunSummary[]; filtered: boolean }) {
  if (runs.length === 0 && filtered) {
    return (
      <EmptyState title="No run matches">
        Enter part of a workflow's name or the start of a run's id, or choose another status.
      </EmptyState>
    );
  }
  if (runs.length === 0) {
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
  return (
    <DataTable
      label="Runs"
      rows={runs}
      keyOf={({ runId }) => runId}
      hrefOf={({ runId }) => `/${encodeURIComponent(runId)}`}
      columns={columnsFor(runs)}
    />
  );
}

/** Returns the columns of the list. Inputs and causes take no room if no run has any. */
function columnsFor(runs: readonly RunSummary[]): readonly Column<RunSummary>[] {
  const hasInputs = runs.some(({ inputs }) => Object.keys(inputs).length > 0);
  const hasCause = runs.some((run) => reasonOf(run) !== undefined);
  return [
    { title: 'Workflow', cell: ({ workflow }) => <NameText name={workflow} /> },
    { title: 'Status', cell: (run) => <Status run={run} /> },
    { title: 'Run', cell: ({ runId }) => <RunId id={runId} />, wideOnly: true },
    ...(hasInputs ? [INPUTS] : []),
    ...(hasCause ? [CAUSE] : []),
    { title: 'Began', cell: ({ createdAt }) => <Time at={createdAt} />, wideOnly: true },
    {
      title: 'Took',
      cell: (run) => <Elapsed from={run.createdAt} to={endOf(run)} />,
      wideOnly: true,
      className: UNBROKEN,
    },
    { title: 'Changed', cell: ({ updatedAt }) => <Time at={updatedAt} /> },
  ];
}

const INPUTS: Column<RunSummary> = {
  title: 'Inputs',
  cell: ({ inputs }) => <span title={inputsText(inputs)}>{inputsText(inputs)}</span>,
  wideOnly: true,
  className: SHORT,
};
const CAUSE: Column<RunSummary> = {
  title: 'Why',
  cell: (run) => <span title={reasonOf(run)}>{reasonOf(run)}</span>,
  wideOnly: true,
  className: SHORT,
};

/** Shows the status of a run. In a narrow window, which has no column for the reason, it shows the reason as well. */
function Status({ run }: { run: RunSummary }) {
  const reason = reasonOf(run);
  return (
    <>
      <StatusBadge status={run.status} />
      {reason !== undefined && (
        <span className="block text-xs wrap-anywhere text-muted-foreground md:hidden">{reason}</span>
      )}
    </>
  );
}

/** Returns the error of a failed run, or what a run waits for; `undefined` for any other run. */
function reasonOf({ error, waitsFor }: RunSummary): string | undefined {
  if (error !== undefined || waitsFor === undefined) return error?.message;
  const { instance, question, questions, until } = waitsFor;
  const time = until === undefined ? undefined : `until ${localTime(until, Date.now())}`;
  if (instance === undefined) return time && `Waits ${time}`;
  const more = questions === undefined ? '' : ` (and ${questions - 1} more)`;
  return `Waits for ${instance}: ${question ?? ''}${more}${time === undefined ? '' : `, ${time}`}`;
}

/** Shows the end of a run's id: ids begin with the time, so only their ends differ clearly. */
function RunId({ id }: { id: string }) {
  return (
    <span title={id} className="font-mono text-xs whitespace-nowrap">
      …{id.slice(-8)}
    </span>
  );
}

function inputsText(inputs: Record<string, unknown>): string {
  const said = Object.entries(inputs).map(([name, value]) => {
    return `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`;
  });
  return textStart(said.join(', '), LONGEST_INPUTS);
}

function endOf({ status, updatedAt }: RunSummary): string | undefined {
  return status === 'running' || status === 'input-required' ? undefined : updatedAt;
}
