import { useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { Link } from 'wouter';
import { buttonClass } from '../components/button.js';
import { type Column, DataTable } from '../components/data-table.js';
import { EmptyState } from '../components/empty-state.js';
import { ResourceView } from '../components/resource-view.js';
import { StatusBadge } from '../components/status-badge.js';
import { useSeen } from '../components/use-seen.js';
import { listRegisteredAgents, type ListedRegisteredAgent, readAgentState } from './registered-agent-api.js';
import { SettingsPage } from './settings-page.js';

const COLUMNS: readonly Column<ListedRegisteredAgent>[] = [
  { title: 'Agent', cell: ({ name }) => name },
  { title: 'Status', className: 'w-40', cell: ({ url }) => <Standing url={url} /> },
  { title: 'Served at', cell: ({ path }) => path, className: 'break-all', wideOnly: true },
  { title: 'Address', cell: ({ url }) => url, className: 'break-all', wideOnly: true },
  { title: 'Credential', cell: ({ auth }) => auth ?? 'none', wideOnly: true },
];

const getAgentKey = ({ name }: ListedRegisteredAgent): string => name;

/** Shows the remote agents that this service serves and makes durable, with the state of their cards. */
export function RegisteredAgentList() {
  const agents = useQuery({
    queryKey: ['registered-agents'],
    queryFn: ({ signal }) => listRegisteredAgents(signal),
  });
  return (
    <SettingsPage
      actions={
        <Link href="/new-agent" className={buttonClass('primary')}>
          <Plus className="size-4" aria-hidden /> Add an agent
        </Link>
      }
    >
      <ResourceView resource={agents}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState title="No registered agent yet">
              Add an A2A agent by its URL. Callers then reach it through this service, which keeps its Tasks and streams
              across restarts.
            </EmptyState>
          ) : (
            <DataTable
              label="Registered agents"
              rows={rows}
              columns={COLUMNS}
              keyOf={getAgentKey}
              hrefOf={({ name }) => `/agents/${name}`}
            />
          )
        }
      </ResourceView>
    </SettingsPage>
  );
}

/** Shows the state of an agent's card, which is read when the row first comes into view. */
function Standing({ url }: { url: string }) {
  const [ref, isSeen] = useSeen();
  const { data, isError } = useQuery({
    queryKey: ['agent-state', url],
    queryFn: ({ signal }) => readAgentState(url, signal),
    enabled: isSeen,
  });
  return (
    <span ref={ref}>
      {data ? (
        <StatusBadge status={data.status} />
      ) : (
        <span className="text-muted-foreground">{isError ? 'unknown' : 'asking …'}</span>
      )}
    </span>
  );
}
