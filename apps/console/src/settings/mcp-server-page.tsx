import { useQuery } from '@tanstack/react-query';
import { RefreshCw } from 'lucide-react';
import { type ReactNode } from 'react';
import { Link } from 'wouter';
import { useAction } from '../api/use-action.js';
import { Button, buttonClass } from '../components/button.js';
import { CommandButton } from '../components/command-button.js';
import { EmptyState } from '../components/empty-state.js';
import { PageHeader } from '../components/page-header.js';
import { ResourceView } from '../components/resource-view.js';
import { StatusBadge } from '../components/status-badge.js';
import { Time } from '../components/time.js';
import { McpToolView } from './mcp-tool-view.js';
import { RemoveButton } from './remove-button.js';
import { acceptTools, getMcpServer, type McpServerDetail } from '../api/mcp-servers.js';
import { ToolChanges } from './tool-changes.js';

const UP = { label: 'MCP servers', href: '~/settings/mcp-servers' };

/**
 * Shows an MCP server: its status, the changes of its tools since they were pinned, and its tools. The page calls the
 * server.
 */
export function McpServerPage({ name }: { name: string }) {
  const server = useQuery({ queryKey: ['mcp-server', name], queryFn: ({ signal }) => getMcpServer(name, signal) });
  const action = useAction();
  const { data } = server;
  const acceptChanges = async (hash: string): Promise<void> => {
    await acceptTools(name, hash);
    void server.refetch();
  };
  return (
    <div className="flex h-full flex-col">
      <PageHeader
        title={name}
        up={UP}
        aside={data?.status && <StatusBadge status={data.status} />}
        actions={
          data && (
            <>
              <Button disabled={server.isFetching} onClick={() => void server.refetch()}>
                <RefreshCw className="size-4" aria-hidden /> {server.isFetching ? 'Refreshing …' : 'Refresh'}
              </Button>
              {data.source === 'api' && (
                <>
                  <Link href={`/mcp-servers/${name}/edit`} className={buttonClass()}>
                    Edit
                  </Link>
                  <RemoveButton kind="mcp-servers" name={name} />
                </>
              )}
            </>
          )
        }
      />
      <div className="min-h-0 grow space-y-6 overflow-y-auto p-4 md:p-6">
        <ResourceView resource={server}>
          {(found) => (
            <>
              <Facts server={found} />
              {action.error !== undefined && (
                <p role="alert" className="text-sm text-destructive">
                  {action.error}
                </p>
              )}
              {found.changes && (
                <ToolChanges
                  changes={found.changes}
                  tools={found.tools}
                  accept={
                    found.hash !== undefined && (
                      <CommandButton kind="primary" action={action} work={() => acceptChanges(found.hash ?? '')}>
                        Accept the changes
                      </CommandButton>
                    )
                  }
                />
              )}
              <Tools server={found} />
            </>
          )}
        </ResourceView>
      </div>
    </div>
  );
}

function Facts({
  server: { source, url, auth, allow, approve, error, acceptedAt, acceptedBy },
}: {
  server: McpServerDetail;
}) {
  return (
    <>
      {error !== undefined && (
        <p role="alert" className="rounded-md border border-destructive/50 bg-destructive/5 p-3 text-sm break-words">
          It cannot be reached: {error}
        </p>
      )}
      {source === 'file' && (
        <p className="rounded-md border bg-muted/60 p-3 text-sm">
          It is one of the operator&apos;s file (<code>MCP_SERVERS_FILE</code>), and is changed only there.
        </p>
      )}
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1.5 text-sm">
        <Fact name="Address">{url ?? 'a program of this machine'}</Fact>
        <Fact name="Credential">{auth ?? 'none'}</Fact>
        <Fact name="May be called">{allow?.join(', ') ?? 'all its tools'}</Fact>
        <Fact name="Asked about">{approve?.join(', ') ?? 'none'}</Fact>
        {acceptedAt !== undefined && (
          <Fact name="Accepted">
            <Time at={acceptedAt} />
            {acceptedBy === undefined ? '' : ` by ${acceptedBy}`}
          </Fact>
        )}
      </dl>
    </>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-muted-foreground">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </>
  );
}

function Tools({ server: { name, status, tools } }: { server: McpServerDetail }) {
  if (tools.length === 0) {
    return status === 'unreachable' ? null : (
      <EmptyState title="It offers no tool">Agents have nothing to call.</EmptyState>
    );
  }
  return (
    <section aria-label="Tools" className="space-y-2">
      <h2 className="font-semibold">
        {tools.length === 1 ? '1 tool' : `${tools.length} tools`}
        {status === 'unreachable' && <span className="font-normal text-muted-foreground"> as they were pinned</span>}
      </h2>
      <ul className="space-y-2">
        {tools.map((tool) => (
          <McpToolView key={tool.name} server={name} tool={tool} />
        ))}
      </ul>
    </section>
  );
}
