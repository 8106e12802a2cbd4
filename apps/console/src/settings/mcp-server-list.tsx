import { useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { Link } from 'wouter';
import { buttonClass } from '../components/button.js';
import { type Column, DataTable } from '../components/data-table.js';
import { EmptyState } from '../components/empty-state.js';
import { ResourceView } from '../components/resource-view.js';
import { StatusBadge } from '../components/status-badge.js';
import { getMcpServer, listMcpServers, type ListedMcpServer } from '../api/mcp-servers.js';
import { SettingsPage } from './settings-page.js';

/**
 * Maximum number of servers that are called while the list is open. For all other servers the list shows the last known
 * state.
 */
const MOST_ASKED = 20;

type ServerRow = ListedMcpServer & { isAsked: boolean };

const COLUMNS: readonly Column<ServerRow>[] = [
  { title: 'Server', cell: ({ name }) => name },
  { title: 'Status', className: 'w-64', cell: (row) => <Standing row={row} /> },
  { title: 'Address', cell: ({ url }) => url ?? 'a program of this machine', className: 'break-all', wideOnly: true },
  { title: 'Credential', cell: ({ auth }) => auth ?? 'none', wideOnly: true },
  { title: 'Kept by', cell: ({ source }) => (source === 'file' ? "the operator's file" : 'the API'), wideOnly: true },
];

const getServerKey = ({ name }: ServerRow): string => name;

/** Shows the MCP servers whose tools agents and tool nodes may call, with their current status. */
export function McpServerList() {
  const servers = useQuery({ queryKey: ['mcp-servers'], queryFn: ({ signal }) => listMcpServers(signal) });
  return (
    <SettingsPage
      actions={
        <Link href="/new-mcp-server" className={buttonClass('primary')}>
          <Plus className="size-4" aria-hidden /> Add a server
        </Link>
      }
    >
      <ResourceView resource={servers}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState title="No MCP server yet">
              Agents can call the tools of servers that speak the Model Context Protocol. Add one by its address.
            </EmptyState>
          ) : (
            <DataTable
              label="MCP servers"
              rows={rows.map((it, index) => ({ ...it, isAsked: index < MOST_ASKED }))}
              columns={COLUMNS}
              keyOf={getServerKey}
              hrefOf={({ name }) => `/mcp-servers/${name}`}
            />
          )
        }
      </ResourceView>
    </SettingsPage>
  );
}

/** Shows a server's current status; until the server answers, its last known status. */
function Standing({ row: { name, status, isAsked } }: { row: ServerRow }) {
  const { data, failureReason } = useQuery({
    queryKey: ['mcp-server', name],
    queryFn: ({ signal }) => getMcpServer(name, signal),
    enabled: isAsked,
  });
  const now = data?.status ?? status;
  const isWaited = isAsked && data === undefined && failureReason === null;
  const tools =
    data && data.status !== 'unreachable' ? toolCount(data.tools.length) : isWaited ? 'asking …' : undefined;
  if (now === undefined) return <span className="text-muted-foreground">{tools ?? 'not asked yet'}</span>;
  return <StatusBadge status={now} {...(tools !== undefined && { detail: tools })} />;
}

function toolCount(count: number): string {
  return count === 1 ? '1 tool' : `${count} tools`;
}
