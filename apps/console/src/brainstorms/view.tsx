import { get } from '../api/http.js';
import { useResource } from '../api/use-resource.js';
import { DataTable } from '../components/data-table.js';
import { EmptyState } from '../components/empty-state.js';
import { PageHeader } from '../components/page-header.js';
import { ResourceView } from '../components/resource-view.js';
import { StatusBadge } from '../components/status-badge.js';
import { Time } from '../components/time.js';

interface BrainstormRow {
  brainstormId: string;
  status: string;
  updatedAt: string;
}

/** Brainstorms, the newest first. */
export function View() {
  const resource = useResource('brainstorms', (signal) =>
    get<{ brainstorms: BrainstormRow[] }>('/api/brainstorms', signal),
  );
  return (
    <>
      <PageHeader title="Brainstorms" />
      <ResourceView resource={resource}>
        {({ brainstorms: rows }) =>
          rows.length === 0 ? (
            <EmptyState title="No brainstorm yet">Start one with POST /api/brainstorms.</EmptyState>
          ) : (
            <DataTable
              label="Brainstorms"
              rows={rows}
              keyOf={(row) => row.brainstormId}
              columns={[
                { title: 'Brainstorm', cell: (row) => row.brainstormId },
                { title: 'Status', cell: (row) => <StatusBadge status={row.status} /> },
                { title: 'Changed', cell: (row) => <Time at={row.updatedAt} /> },
              ]}
            />
          )
        }
      </ResourceView>
    </>
  );
}
