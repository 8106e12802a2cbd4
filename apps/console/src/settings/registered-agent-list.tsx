import { useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { Link } from 'wouter';
import { buttonClass } from '../components/button.js';
import { type Column, DataTable } from '../components/data-table.js';
import { EmptyState } from '../components/empty-state.js';
import { ResourceView } from '../components/resource-view.js';
import { StatusBadge } from '../components/status-badge.js';
import { listRegisteredAgents, type ListedRegisteredAgent, readAgentState } from './registered-agent-api.js';
import { SettingsPage } from './settings-page.js';

/** Maximum number of agents whose cards are read while the list is open. */
const MOST_ASKED = 20;

type AgentRow = ListedRegisteredAgent & { isAsked: boolean };

const COLUMNS: readonly Column<AgentRow>[] = [
  { title: 'Agent', cell: ({ name }) => name },
  { title: 'Status', className: 'w-40', cell: (row) => <Standing row={row} /> },
  { title: 'Served at', cell: ({ path }) => path, className: 'break-all', wideOnly: true },
  { title: 'Address', cell: ({ url }) => url, className: 'break-all', wideOnly: true },
  { title: 'Credential', cell: ({ auth }) => auth ?? 'none', wideOnly: true },
];

const getAgentKey = ({ name }: AgentRow): string => name;

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
              rows={rows.map((it, index) => ({ ...it, isAsked: index < MOST_ASKED }))}
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

function Standing({ row: { url, isAsked } }: { row: AgentRow }) {
  const { data, isError } = useQuery({
    queryKey: ['agent-state', url],
    queryFn: ({ signal }) => readAgentState(url, signal),
    enabled: isAsked,
  });
  if (data) return <StatusBadge status={data.status} />;
  const isWaited = isAsked && !isError;
  return <span className="text-muted-foreground">{isWaited ? 'asking …' : 'not asked yet'}</span>;
}
