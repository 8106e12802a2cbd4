import { useEffect, useState } from 'react';
import { useSearchParams } from 'wouter';
import { baseOf } from '../api/directory.js';
import { callAgent } from '../api/json-rpc.js';
import type { A2aTask } from '../api/task.js';
import { useLive } from '../api/use-live.js';
import { usePages } from '../api/use-pages.js';
import { Button } from '../components/button.js';
import { ConnectionNote } from '../components/connection-note.js';
import type { Column } from '../components/data-table.js';
import { FrontCut } from '../components/front-cut.js';
import { EmptyState } from '../components/empty-state.js';
import { PageHeader } from '../components/page-header.js';
import { PagedTable } from '../components/paged-table.js';
import { StatusBadge } from '../components/status-badge.js';
import { Time } from '../components/time.js';
import { summarizeParts } from './task-event.js';
import { agentPath, type TaskSearch, TaskFilterForm } from './task-filter.js';
import { isTopLevel, originOf } from './task-origin.js';

const COLUMNS: readonly Column<A2aTask>[] = [
  { title: 'Task', className: 'md:w-80 font-mono text-xs', cell: ({ id }) => <FrontCut text={id} /> },
  { title: 'State', className: 'w-36 md:w-52', cell: ({ status }) => <StatusBadge status={status.state} /> },
  { title: 'Kind', className: 'w-44', cell: (task) => originOf(task).label, wideOnly: true },
  {
    title: 'Last message',
    cell: ({ status }) => (status.message ? summarizeParts(status.message.parts) : ''),
    wideOnly: true,
    className: 'text-muted-foreground',
  },
  {
    title: 'Changed',
    className: 'w-40',
    cell: ({ status }) => status.timestamp && <Time at={status.timestamp} />,
    wideOnly: true,
  },
];

const PAGE_SIZE = 50;
/** Maximum number of Tasks that are searched for top-level Tasks before the person must ask for more. */
const LOOKED_THROUGH = 500;
const getTaskKey = ({ id }: A2aTask): string => id;

/** Shows the Tasks that match the filter, most recently updated first. The list updates live. */
export function TaskList() {
  const [search, setSearch] = useSearchParams();
  const filter = filterIn(search);
  const { state, agent, context, top } = filter;
  const key = JSON.stringify(filter);
  const queryKey = ['tasks', key];
  const pages = usePages(queryKey, getTaskKey, async (pageToken, signal) => {
    const params = {
      pageSize: PAGE_SIZE,
      historyLength: 0,
      ...(state && { status: state }),
      ...(context && { contextId: context }),
      ...(pageToken && { pageToken }),
    };
    const base = agent === '' ? '/a2a' : baseOf(agentPath(agent));
    const { tasks, nextPageToken } = await callAgent<TaskPageBody>(base, 'ListTasks', params, signal);
    return { rows: tasks, nextPageToken };
  });
  const query = { streams: ['task'], ...(context && { contextId: context }) };
  const connection = useLive(queryKey, query, { spacing: 1000 });
  const filtered = Object.values(filter).some((value) => value !== '');
  const { more, loadMore } = pages;
  const wanted = top === '' ? pages.rows : pages.rows?.filter(isTopLevel);
  // The service cannot filter by top level: the first match may be on any page, and there may be a million Tasks.
  const seen = pages.rows?.length ?? 0;
  const [asked, setAsked] = useState({ key, most: LOOKED_THROUGH });
  const pauses = top !== '' && more && seen >= (asked.key === key ? asked.most : LOOKED_THROUGH);
  const seeks = wanted?.length === 0 && more && !pauses;
  useEffect(() => {
    if (seeks) loadMore();
  }, [seeks, loadMore]);
  return (
    <div className="flex h-full flex-col">
      <PageHeader title="Tasks" aside={<ConnectionNote connection={connection} />} />
      <TaskFilterForm
        key={JSON.stringify(filter)}
        filter={filter}
        onFilter={(wanted) => setSearch(Object.entries(wanted).filter(([, value]) => value !== ''))}
      />
      <PagedTable
        label="Tasks"
        pages={{ ...pages, rows: seeks ? undefined : wanted, ...(pauses && { loadMore: noMore }) }}
        keyOf={getTaskKey}
        hrefOf={({ id }) => `/${encodeURIComponent(id)}`}
        columns={COLUMNS}
        empty={
          pauses ? (
            <EmptyState title="No matching Task so far" />
          ) : filtered ? (
            <EmptyState title="No Task matches">Change the search above, or clear it to see all Tasks.</EmptyState>
          ) : (
            <EmptyState title="No Task yet">
              Run a workflow, or send a Message to an agent in its playground.
            </EmptyState>
          )
        }
      />
      {pauses && (
        <div className="flex items-center justify-center gap-3 border-t p-3 text-sm text-muted-foreground">
          The {seen} most recently updated Tasks were searched.
          <Button
            onClick={() => {
              setAsked({ key, most: seen + LOOKED_THROUGH });
              loadMore();
            }}
          >
            Search further
          </Button>
        </div>
      )}
    </div>
  );
}

function noMore(): void {
  // Beyond LOOKED_THROUGH, the person must ask for more.
}

interface TaskPageBody {
  tasks: A2aTask[];
  nextPageToken: string;
}

function filterIn(search: URLSearchParams): TaskSearch {
  return {
    state: search.get('state') ?? '',
    agent: search.get('agent') ?? '',
    context: search.get('context') ?? '',
    top: search.get('top') ?? '',
  };
}
