import { useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { Link } from 'wouter';
import { buttonClass } from '../components/button.js';
import { type Column, DataTable } from '../components/data-table.js';
import { EmptyState } from '../components/empty-state.js';
import { ResourceView } from '../components/resource-view.js';
import { StatusBadge } from '../components/status-badge.js';
import { useSeen } from '../components/use-seen.js';
import { getMcpServer, listMcpServers, type ListedMcpServer } from '../api/mcp-servers.js';
import { SettingsPage } from './settings-page.js';

const COLUMNS: readonly Column<ListedMcpServer>[] = [
  { title: 'Server', cell: ({ name }) => name },
  { title: 'Status', className: 'w-64', cell: (row) => <Standing row={row} /> },
  { title: 'Address', cell: ({ url }) => url ?? 'a program of this machine', className: 'break-all', wideOnly: true },
  { title: 'Credential', cell: ({ auth }) => auth ?? 'none', wideOnly: true },
  { title: 'Kept by', cell: ({ source }) => (source === 'file' ? "the operator's file" : 'the API'), wideOnly: true },
];

const getServerKey = ({ name }: ListedMcpServer): string => name;

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
              rows={rows}
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

/**
 * Shows a server's current status; until the server answers, its last known status. The server is called when the row
 * first comes into view.
 */
function Standing({ row: { name, status } }: { row: ListedMcpServer }) {
  const [ref, isSeen] = useSeen();
  const { data, failureReason } = useQuery({
    queryKey: ['mcp-server', name],
    queryFn: ({ signal }) => getMcpServer(name, signal),
    enabled: isSeen,
  });
  const now = data?.status ?? status;
  const isWaited = data === undefined && failureReason === null;
  const tools =
    data && data.status !== 'unreachable' ? toolCount(data.tools.length) : isWaited ? 'asking …' : undefined;
  return (
    <span ref={ref}>
      {now === undefined ? (
        <span className="text-muted-foreground">{tools ?? 'not asked yet'}</span>
      ) : (
        <StatusBadge status={now} {...(tools !== undefined && { detail: tools })} />
      )}
    </span>
  );
}

function toolCount(count: number): string {
  return count === 1 ? '1 tool' : `${count} tools`;
}
