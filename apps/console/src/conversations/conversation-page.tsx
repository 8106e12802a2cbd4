import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { callApi, getJson } from '../api/http.js';
import { useAction } from '../api/use-action.js';
import { useLive } from '../api/use-live.js';
import { useTaskEvents } from '../api/use-task-events.js';
import { ActionError, CommandButton } from '../components/command-button.js';
import { ConnectionNote } from '../components/connection-note.js';
import { PageHeader } from '../components/page-header.js';
import { shortId } from '../components/page-title.js';
import { ResourceView } from '../components/resource-view.js';
import { lookOf, StatusBadge } from '../components/status-badge.js';
import { type Conversation, nextSpeaker, outcomeLabel, getBadgeStatus, titleOf } from './conversation.js';
import { ConversationThread } from './conversation-thread.js';
import { AnswerQuestion, InjectTurn } from './inject-turn.js';
import { turnNotes } from './turn-notes.js';

/** Shows a conversation as a thread, live, with the actions a person can take. */
export function ConversationPage({ id }: { id: string }) {
  const path = `/api/conversations/${encodeURIComponent(id)}`;
  const queryKey = ['conversation', id];
  const resource = useQuery({ queryKey, queryFn: ({ signal }) => getJson<Conversation>(path, signal) });
  const connection = useLive(queryKey, { streams: ['task'], taskId: id });
  const { events } = useTaskEvents(id);
  const notes = useMemo(() => turnNotes(events), [events]);
  const action = useAction();
  const sendCommand = (name: string) => async (): Promise<void> => {
    await callApi('POST', `${path}/${name}`);
    void resource.refetch();
  };
  const it = resource.data;
  return (
    <div className="flex h-full flex-col">
      <PageHeader
        title={it ? titleOf(it) : 'Conversation'}
        tab={it ? [lookOf(getBadgeStatus(it)).label, titleOf(it), shortId(id)] : ['Conversation', shortId(id)]}
        up={{ label: 'Conversations', href: '~/conversations' }}
        aside={
          <>
            {it && (
              <StatusBadge status={getBadgeStatus(it)} {...(it.outcome && { detail: outcomeLabel(it.outcome) })} />
            )}
            <ConnectionNote connection={connection} />
          </>
        }
        actions={
          it?.status === 'active' && (
            <>
              {it.question === undefined && (
                <CommandButton action={action} work={sendCommand(it.paused ? 'resume' : 'pause')}>
                  {it.paused ? 'Resume' : 'Pause'}
                </CommandButton>
              )}
              <CommandButton action={action} work={sendCommand('stop')} title="Completes after the current turn">
                Stop
              </CommandButton>
              <CommandButton action={action} work={sendCommand('cancel')} kind="danger" title="Cancels immediately">
                Cancel
              </CommandButton>
            </>
          )
        }
      />
      <ActionError action={action} />
      <ResourceView resource={resource}>
        {(conversation) => (
          <>
            <ConversationThread conversation={conversation} notes={notes} />
            {conversation.question !== undefined && <AnswerQuestion conversation={conversation} />}
            {conversation.question === undefined && nextSpeaker(conversation) && (
              <InjectTurn path={path} conversation={conversation} />
            )}
          </>
        )}
      </ResourceView>
    </div>
  );
}
