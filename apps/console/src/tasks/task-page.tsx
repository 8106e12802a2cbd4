import { useQuery } from '@tanstack/react-query';
import { ExternalLink } from 'lucide-react';
import { Link } from 'wouter';
import { callAgent } from '../api/json-rpc.js';
import { isEnded, type A2aTask } from '../api/task.js';
import { useAction } from '../api/use-action.js';
import { useLive } from '../api/use-live.js';
import { buttonClass } from '../components/button.js';
import { ActionError, CommandButton } from '../components/command-button.js';
import { ConnectionNote } from '../components/connection-note.js';
import { JsonView } from '../components/json-view.js';
import { PageHeader } from '../components/page-header.js';
import { shortId } from '../components/page-title.js';
import { ResourceView } from '../components/resource-view.js';
import { lookOf, StatusBadge } from '../components/status-badge.js';
import { TabBar } from '../components/tab-bar.js';
import { TaskDeliveries } from './task-deliveries.js';
import { TaskEventLog } from './task-event-log.js';
import { originOf } from './task-origin.js';
import { TaskOverview } from './task-overview.js';
import { TaskTranscript } from './task-transcript.js';

/** Shows a Task: its content, its log, and its push notifications. The page updates live. */
export function TaskPage({ id }: { id: string }) {
  const queryKey = ['task', id];
  const resource = useQuery({
    queryKey,
    queryFn: ({ signal }) => callAgent<A2aTask>('/a2a', 'GetTask', { id }, signal),
  });
  const connection = useLive(queryKey, { streams: ['task'], taskId: id });
  const action = useAction();
  const requestCancel = async (): Promise<void> => {
    await callAgent('/a2a', 'CancelTask', { id });
    void resource.refetch();
  };
  const task = resource.data;
  const origin = task && originOf(task);
  return (
    <div className="flex h-full flex-col">
      <PageHeader
        title={<span className="font-mono text-base">{id}</span>}
        tab={[task && lookOf(task.status.state).label, `Task ${shortId(id)}`]}
        up={{ label: 'Tasks', href: '~/tasks' }}
        aside={
          <>
            {task && <StatusBadge status={task.status.state} />}
            <ConnectionNote connection={connection} />
          </>
        }
        actions={
          task && (
            <>
              {origin?.href !== undefined && (
                <Link href={`~${origin.href}`} className={buttonClass()}>
                  <ExternalLink className="size-4" aria-hidden /> Open the {origin.label}
                </Link>
              )}
              {!isEnded(task.status.state) && (
                <CommandButton action={action} work={requestCancel} kind="danger">
                  Cancel
                </CommandButton>
              )}
            </>
          )
        }
      />
      <ActionError action={action} />
      <ResourceView resource={resource}>
        {(shown) => (
          <TabBar
            label="Parts of the Task"
            tabs={[
              { name: 'overview', label: 'Overview', content: () => <TaskOverview task={shown} /> },
              ...(origin?.href === undefined
                ? [{ name: 'transcript', label: 'Transcript', content: () => <TaskTranscript key={id} taskId={id} /> }]
                : []),
              { name: 'events', label: 'Events', content: () => <TaskEventLog taskId={id} /> },
              { name: 'push', label: 'Push notifications', content: () => <TaskDeliveries taskId={id} /> },
              { name: 'json', label: 'JSON', content: () => <TaskJson task={shown} /> },
            ]}
          />
        )}
      </ResourceView>
    </div>
  );
}

function TaskJson({ task }: { task: A2aTask }) {
  return (
    <div className="overflow-auto p-4">
      <JsonView value={task} label="The Task as JSON" />
    </div>
  );
}
