import { get } from '../api/http.js';
import { useResource } from '../api/use-resource.js';
import { DataTable } from '../components/data-table.js';
import { PageHeader } from '../components/page-header.js';
import { ResourceView } from '../components/resource-view.js';

interface AgentRow {
  name: string;
  description: string;
  url: string;
}

/** The directory of served agents. */
export function View() {
  const resource = useResource('agents', (signal) => get<{ agents: AgentRow[] }>('/a2a/agents', signal));
  return (
    <>
      <PageHeader title="Agents" />
      <ResourceView resource={resource}>
        {({ agents }) => (
          <DataTable
            label="Agents"
            rows={agents}
            keyOf={(agent) => agent.url}
            columns={[
              { title: 'Agent', cell: (agent) => agent.name },
              { title: 'What it does', cell: (agent) => agent.description, wideOnly: true },
              { title: 'Address', cell: (agent) => agent.url, wideOnly: true, className: 'truncate' },
            ]}
          />
        )}
      </ResourceView>
    </>
  );
}
