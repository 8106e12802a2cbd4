import type { Schemas } from '#libs/client';
import { getJson } from '../api/http.js';
import type { Rows } from '../api/use-pages.js';
import type { Column } from '../components/data-table.js';
import { ProcessList } from '../components/process-list.js';
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

async function fetchConversations(query: URLSearchParams, signal: AbortSignal): Promise<Rows<ConversationSummary>> {
  const page = await getJson<Schemas['ConversationPage']>(`/api/conversations?${query}`, signal);
  return { rows: page.conversations, nextPageToken: page.nextPageToken };
}

export function ConversationList() {
  return (
    <ProcessList
      kind="conversation"
      statuses={['active', 'complete']}
      columns={COLUMNS}
      keyOf={({ conversationId }) => conversationId}
      fetchPage={fetchConversations}
      live={{ filter: { streams: ['a2a'] }, spacing: 500 }}
      invitation="Let two agents talk with each other: choose them, and say the first sentence."
    />
  );
}
