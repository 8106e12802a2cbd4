import type { Schemas } from '#libs/client';
import { callApi, getJson } from '../api/http.js';
import { queries } from '../api/queries.js';
import { useAction } from '../api/use-action.js';
import { usePages } from '../api/use-pages.js';
import { ActionError, CommandButton } from '../components/command-button.js';
import type { Column } from '../components/data-table.js';
import { EmptyState } from '../components/empty-state.js';
import { PagedTable } from '../components/paged-table.js';
import { StatusBadge } from '../components/status-badge.js';
import { Time } from '../components/time.js';

type Delivery = Schemas['DeliveryView'];

const getDeliveryKey = ({ id }: Delivery): string => id;

/** Shows the push notifications of a Task and their outcomes, newest first. */
export function TaskDeliveries({ taskId }: { taskId: string }) {
  const action = useAction();
  const queryKey = ['deliveries', taskId];
  const pages = usePages(queryKey, getDeliveryKey, async (pageToken, signal) => {
    const query = new URLSearchParams({ taskId, ...(pageToken && { pageToken }) });
    const page = await getJson<Schemas['DeliveryPageView']>(`/api/deliveries?${query}`, signal);
    return { rows: page.deliveries, nextPageToken: page.nextPageToken };
  });
  const redeliverEvent = async (id: string): Promise<void> => {
    await callApi('POST', `/api/deliveries/${encodeURIComponent(id)}/redeliver`);
    void queries.invalidateQueries({ queryKey });
  };
  const columns: readonly Column<Delivery>[] = [
    { title: 'Event', className: 'w-16', cell: ({ sequence }) => sequence },
    { title: 'Receiver', cell: ({ url }) => <span title={url}>{url}</span> },
    { title: 'Status', className: 'w-32', cell: ({ status }) => <StatusBadge status={status} /> },
    { title: 'Attempts', className: 'w-24', cell: ({ attempts }) => attempts, wideOnly: true },
    { title: 'Last answer', cell: answerOf, wideOnly: true },
    { title: 'Changed', className: 'w-36', cell: ({ updatedAt }) => <Time at={updatedAt} />, wideOnly: true },
    {
      title: 'Again',
      className: 'w-28',
      cell: ({ id, sequence }) => (
        <CommandButton
          action={action}
          work={() => redeliverEvent(id)}
          aria-label={`Send event ${sequence} again`}
          className="py-0.5!"
        >
          Again
        </CommandButton>
      ),
    },
  ];
  return (
    <>
      <ActionError action={action} />
      <PagedTable
        label="Push notifications"
        pages={pages}
        columns={columns}
        keyOf={getDeliveryKey}
        empty={
          <EmptyState title="No push notification was tried">
            A caller that wants them creates a push notification config for the Task.
          </EmptyState>
        }
      />
    </>
  );
}

function answerOf({ lastStatus, lastError, disabledReason }: Delivery): string {
  return disabledReason ?? lastError ?? (lastStatus === undefined ? '' : String(lastStatus));
}
