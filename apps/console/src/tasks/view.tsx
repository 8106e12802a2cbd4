import { callAgent } from '../api/a2a.js';
import { useResource } from '../api/use-resource.js';
import { DataTable } from '../components/data-table.js';
import { EmptyState } from '../components/empty-state.js';
import { PageHeader } from '../components/page-header.js';
import { ResourceView } from '../components/resource-view.js';
import { StatusBadge } from '../components/status-badge.js';

interface TaskRow {
  id: string;
  status: { state: string };
}

/** Tasks of every agent, the one that changed last first. */
export function View() {
  const resource = useResource('tasks', () => callAgent<{ tasks: TaskRow[] }>('GET', '/a2a', '/tasks'));
  return (
    <>
      <PageHeader title="Tasks" />
      <ResourceView resource={resource}>
        {({ tasks }) =>
          tasks.length === 0 ? (
            <EmptyState title="No Task yet">Run a workflow, or send a Message to an agent.</EmptyState>
          ) : (
            <DataTable
              label="Tasks"
              rows={tasks}
              keyOf={(task) => task.id}
              columns={[
                { title: 'Task', cell: (task) => task.id },
                { title: 'State', cell: (task) => <StatusBadge status={task.status.state} /> },
              ]}
            />
          )
        }
      </ResourceView>
    </>
  );
}
