import { get } from '../api/http.js';
import { useResource } from '../api/use-resource.js';
import { DataTable } from '../components/data-table.js';
import { EmptyState } from '../components/empty-state.js';
import { PageHeader } from '../components/page-header.js';
import { ResourceView } from '../components/resource-view.js';
import { StatusBadge } from '../components/status-badge.js';
import { Time } from '../components/time.js';

interface ConversationRow {
  conversationId: string;
  status: string;
  updatedAt: string;
}

/** Conversations, the newest first. */
export function View() {
  const resource = useResource('conversations', (signal) =>
    get<{ conversations: ConversationRow[] }>('/api/conversations', signal),
  );
  return (
    <>
      <PageHeader title="Conversations" />
      <ResourceView resource={resource}>
        {({ conversations: rows }) =>
          rows.length === 0 ? (
            <EmptyState title="No conversation yet">Start one with POST /api/conversations.</EmptyState>
          ) : (
            <DataTable
              label="Conversations"
              rows={rows}
              keyOf={(row) => row.conversationId}
              columns={[
                { title: 'Conversation', cell: (row) => row.conversationId },
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
