import { useQuery } from '@tanstack/react-query';
import { callApi, getJson } from '../api/http.js';
import { useAction } from '../api/use-action.js';
import { CommandButton } from '../components/command-button.js';
import { type Column, DataTable } from '../components/data-table.js';
import { JsonView } from '../components/json-view.js';
import { PageHeader } from '../components/page-header.js';
import { ResourceView } from '../components/resource-view.js';
import { Time } from '../components/time.js';
import { describePin } from './card-list.js';
import type { CardDetail, CardDifference } from './settings-api.js';

const UP = { label: 'Cards', href: '~/settings/cards' };

const COLUMNS: readonly Column<CardDifference>[] = [
  { title: 'Where', cell: ({ path }) => <code>{path === '' ? '/' : path}</code> },
  { title: 'Before', cell: ({ before }) => formatValue(before), className: 'break-words' },
  { title: 'After', cell: ({ after }) => formatValue(after), className: 'break-words' },
];

/** Shows a pinned card: its changes, a button to accept them, and the card itself. */
export function CardPage({ id }: { id: string }) {
  const path = `/api/agent-cards/${encodeURIComponent(id)}`;
  const card = useQuery({ queryKey: ['pinned-card', id], queryFn: ({ signal }) => getJson<CardDetail>(path, signal) });
  const action = useAction();
  const acceptChange = async (hash: string | undefined): Promise<void> => {
    await callApi('POST', `${path}/accept`, { body: { hash } });
    void card.refetch();
  };
  return (
    <div className="flex h-full flex-col">
      <PageHeader
        title={card.data?.name ?? 'Card'}
        up={UP}
        aside={card.data && <span className="text-sm text-muted-foreground">{describePin(card.data)}</span>}
        actions={
          card.data?.status === 'changed' && (
            <CommandButton kind="primary" action={action} work={() => acceptChange(card.data?.seenHash)}>
              Accept the change
            </CommandButton>
          )
        }
      />
      <div className="min-h-0 grow space-y-4 overflow-y-auto p-4">
        {action.error !== undefined && (
          <p role="alert" className="text-sm text-destructive">
            {action.error}
          </p>
        )}
        <ResourceView resource={card}>{(data) => <Card card={data} />}</ResourceView>
      </div>
    </div>
  );
}

function Card({ card: { url, card, changes } }: { card: CardDetail }) {
  return (
    <>
      <p className="text-sm break-all text-muted-foreground">{url}</p>
      {changes.map((change) => (
        <section key={`${change.to} ${change.firstSeenAt}`}>
          <h2 className="text-sm font-medium">
            Changed <Time at={change.firstSeenAt} />
            {change.acceptedAt === undefined ? '' : ', accepted'}
          </h2>
          <DataTable label="Changes" rows={change.changes} columns={COLUMNS} keyOf={({ path }) => path} />
        </section>
      ))}
      <JsonView value={card} label="Card" />
    </>
  );
}

function formatValue(value: unknown): string {
  return value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);
}
