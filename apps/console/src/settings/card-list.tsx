import type { Schemas } from '#libs/client';
import { useSearchParams } from 'wouter';
import { getJson } from '../api/http.js';
import { usePages } from '../api/use-pages.js';
import type { Column } from '../components/data-table.js';
import { EmptyState } from '../components/empty-state.js';
import { Select } from '../components/field.js';
import { PagedTable } from '../components/paged-table.js';
import { Time } from '../components/time.js';
import type { PinnedCard } from './settings-api.js';
import { SettingsPage } from './settings-page.js';

const COLUMNS: readonly Column<PinnedCard>[] = [
  { title: 'Agent', cell: ({ name, url }) => (name === '' ? url : name) },
  { title: 'Card', className: 'w-32', cell: describePin },
  { title: 'Address', cell: ({ url }) => url, wideOnly: true },
  { title: 'Seen', className: 'w-40', cell: ({ lastSeenAt }) => <Time at={lastSeenAt} />, wideOnly: true },
];

const getCardKey = ({ id }: PinnedCard): string => id;

export function describePin({ status, blocked }: Pick<PinnedCard, 'status' | 'blocked'>): string {
  return status === 'pinned' ? 'as pinned' : blocked ? 'changed, blocked' : 'changed';
}

/** Shows the pinned cards of the remote agents that this service has called. */
export function CardList() {
  const [search, setSearch] = useSearchParams();
  const status = search.get('status') ?? '';
  const pages = usePages(['pinned-cards', status], getCardKey, async (pageToken, signal) => {
    const query = new URLSearchParams({ ...(status && { status }), ...(pageToken && { pageToken }) });
    const page = await getJson<Schemas['CardPageView']>(`/api/agent-cards?${query}`, signal);
    return { rows: page.cards, nextPageToken: page.nextPageToken };
  });
  return (
    <SettingsPage
      actions={
        <Select
          aria-label="Which cards"
          className="w-auto!"
          value={status}
          onChange={({ target }) => setSearch(target.value === '' ? {} : { status: target.value })}
        >
          <option value="">All</option>
          <option value="changed">Changed</option>
          <option value="pinned">As pinned</option>
        </Select>
      }
    >
      <PagedTable
        label="Cards"
        pages={pages}
        columns={COLUMNS}
        keyOf={getCardKey}
        hrefOf={({ id }) => `/cards/${id}`}
        empty={
          <EmptyState title="No card matches">
            When this service calls an agent for the first time, its card is pinned here.
          </EmptyState>
        }
      />
    </SettingsPage>
  );
}
