import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useSearchParams } from 'wouter';
import { directoryPage, type DirectoryAgent } from '../api/directory.js';
import { useKnownAgents } from '../api/known-agents.js';
import { usePages } from '../api/use-pages.js';
import type { Column } from '../components/data-table.js';
import { EmptyState } from '../components/empty-state.js';
import { Input } from '../components/field.js';
import { PageHeader } from '../components/page-header.js';
import { PagedTable } from '../components/paged-table.js';
import { AddAgent } from './add-agent.js';
import { agentHref, type AgentRef } from './agent-ref.js';
import { type RemoteAgent, remoteAgents, workflowNodes, workflowNodesKey } from './remote-agents.js';

interface AgentRow {
  ref: AgentRef;
  name: string;
  description: string;
  address: string;
}

const COLUMNS: readonly Column<AgentRow>[] = [
  { title: 'Agent', cell: ({ name }) => name },
  { title: 'Where', className: 'w-24', cell: ({ ref }) => (ref.kind === 'served' ? 'here' : 'remote') },
  { title: 'What it does', cell: ({ description }) => description, wideOnly: true, className: 'text-muted-foreground' },
  { title: 'Address', cell: ({ address }) => <span title={address}>{address}</span>, wideOnly: true },
];

/**
 * Minimum number of served agents in the list: while there are fewer, the next page is loaded at once. Agents of
 * workflow nodes count only while they are shown, which a person must request.
 */
const FEW = 40;

const getAgentPath = ({ path }: DirectoryAgent): string => path;
const getAgentKey = ({ address }: AgentRow): string => address;

/**
 * Shows the agents that this service serves and the known remote agents. The search field matches every text of a row.
 */
export function AgentList() {
  const [search, setSearch] = useSearchParams();
  const wanted = search.get('search') ?? '';
  const pages = usePages(['agents'], getAgentPath, directoryPage);
  const added = useKnownAgents();
  const workflows = useQuery({ queryKey: workflowNodesKey(), queryFn: ({ signal }) => workflowNodes(signal) });
  const { more, loadMore } = pages;
  // The directory has no search of its own, and a match may be on any page.
  const withNodes = search.has('nodes') || wanted !== '';
  const remote = remoteAgents(added, workflows.data ?? []).map(remoteRow);
  const served = pages.rows?.filter(({ path }) => withNodes || !path.includes('/nodes/'));
  const rows = served && [...remote, ...served.map(servedRow)].filter((row) => matchesSearch(row, wanted));
  const few = served !== undefined && served.length < FEW;
  useEffect(() => {
    if ((wanted !== '' || few) && more) loadMore();
  }, [wanted, few, more, loadMore]);
  return (
    <div className="flex h-full flex-col">
      <PageHeader
        title="Agents"
        actions={
          <>
            <label className="flex items-center gap-1.5 text-sm">
              <input
                type="checkbox"
                checked={withNodes}
                disabled={wanted !== ''}
                onChange={({ target }) => setSearch(target.checked ? { nodes: '' } : {}, { replace: true })}
              />
              Nodes too
            </label>
            <Input
              type="search"
              aria-label="Search agents"
              placeholder="Search"
              className="w-48!"
              value={wanted}
              onChange={({ target }) =>
                setSearch(target.value === '' ? {} : { search: target.value }, { replace: true })
              }
            />
          </>
        }
      />
      <AddAgent />
      <PagedTable
        label="Agents"
        pages={{ ...pages, rows }}
        columns={COLUMNS}
        keyOf={getAgentKey}
        hrefOf={({ ref }) => agentHref(ref)}
        empty={
          <EmptyState title="No agent matches">
            Search for something else, create a workflow, or add a remote agent by its URL.
          </EmptyState>
        }
      />
    </div>
  );
}

function servedRow({ path, name, description, url }: DirectoryAgent): AgentRow {
  // The name of a node alone is ambiguous: workflows may have nodes of the same name.
  const [, workflow, node] = /^workflows\/([^/]+)\/nodes\/([^/]+)$/.exec(path) ?? [];
  const shown = node === undefined ? name : `${workflow} / ${node}`;
  return { ref: { kind: 'served', path }, name: shown, description, address: `${url}/` };
}

function remoteRow({ url, workflows, added }: RemoteAgent): AgentRow {
  const calls = workflows.length > 0 ? `Called by ${workflows.join(', ')}` : '';
  const description = [added ? 'Added in this browser' : '', calls].filter((it) => it !== '').join('. ');
  return { ref: { kind: 'remote', url }, name: url.replace(/^https?:\/\//i, ''), description, address: url };
}

function matchesSearch({ name, description, address }: AgentRow, wanted: string): boolean {
  return `${name} ${description} ${address}`.toLowerCase().includes(wanted.trim().toLowerCase());
}
