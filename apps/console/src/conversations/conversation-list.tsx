import type { Schemas } from '#libs/client';
import { Plus } from 'lucide-react';
import { Link, useSearchParams } from 'wouter';
import { getJson } from '../api/http.js';
import { useLive } from '../api/use-live.js';
import { usePages } from '../api/use-pages.js';
import { buttonClass } from '../components/button.js';
import { ConnectionNote } from '../components/connection-note.js';
import type { Column } from '../components/data-table.js';
import { EmptyState } from '../components/empty-state.js';
import { Select } from '../components/field.js';
import { PageHeader } from '../components/page-header.js';
import { PagedTable } from '../components/paged-table.js';
import { StatusBadge } from '../components/status-badge.js';
import { Time } from '../components/time.js';
import { type ConversationSummary, outcomeLabel, getBadgeStatus, titleOf } from './conversation.js';

const COLUMNS: readonly Column<ConversationSummary>[] = [
  { title: 'Participants', cell: titleOf },
  {
    title: 'Status',
    className: 'w-52',
    cell: (it) => <StatusBadge status={getBadgeStatus(it)} {...(it.outcome && { detail: outcomeLabel(it.outcome) })} />,
  },
  { title: 'Maximum turns', className: 'w-28', cell: ({ maxTurns }) => maxTurns, wideOnly: true },
  { title: 'Started', className: 'w-40', cell: ({ createdAt }) => <Time at={createdAt} />, wideOnly: true },
  { title: 'Changed', className: 'w-40', cell: ({ updatedAt }) => <Time at={updatedAt} />, wideOnly: true },
];

const getConversationKey = ({ conversationId }: ConversationSummary): string => conversationId;

/** Shows conversations, most recently updated first. The list updates live. */
export function ConversationList() {
  const [search, setSearch] = useSearchParams();
  const status = search.get('status') ?? '';
  const queryKey = ['conversations', status];
  const pages = usePages(queryKey, getConversationKey, async (pageToken, signal) => {
    const query = new URLSearchParams({ ...(status && { status }), ...(pageToken && { pageToken }) });
    const page = await getJson<Schemas['ConversationPage']>(`/api/conversations?${query}`, signal);
    return { rows: page.conversations, nextPageToken: page.nextPageToken };
  });
  const connection = useLive(queryKey, { streams: ['a2a'] }, { spacing: 500 });
  return (
    <div className="flex h-full flex-col">
      <PageHeader
        title="Conversations"
        aside={<ConnectionNote connection={connection} />}
        actions={
          <>
            <Select
              aria-label="Status"
              className="w-auto!"
              value={status}
              onChange={({ target }) => setSearch(target.value === '' ? {} : { status: target.value })}
            >
              <option value="">All</option>
              <option value="active">Active</option>
              <option value="complete">Complete</option>
            </Select>
            <StartLink />
          </>
        }
      />
      <PagedTable
        label="Conversations"
        pages={pages}
        keyOf={getConversationKey}
        hrefOf={({ conversationId }) => `/${conversationId}`}
        columns={COLUMNS}
        empty={
          status === '' ? (
            <EmptyState title="No conversation yet" action={<StartLink />}>
              Let two agents talk with each other: choose them, and say the first sentence.
            </EmptyState>
          ) : (
            <EmptyState title={`No conversation is ${status}`}>Choose another status to see the others.</EmptyState>
          )
        }
      />
    </div>
  );
}

function StartLink() {
  return (
    <Link href="/new" className={buttonClass('primary')}>
      <Plus className="size-4" aria-hidden /> Start a conversation
    </Link>
  );
}
