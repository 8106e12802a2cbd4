import { useRef } from 'react';
import { Link } from 'wouter';
import { Button } from '../components/button.js';
import { EmptyState } from '../components/empty-state.js';
import { PartsView } from '../components/parts-view.js';
import { StatusBadge } from '../components/status-badge.js';
import { useStickToEnd } from '../components/use-stick-to-end.js';
import type { AgentRef } from './agent-ref.js';
import { type ChatEntry, isAtWork } from './chat.js';
import type { PlaygroundSession, ChatView } from './chat-session.js';
import { Composer } from './composer.js';

interface ChatPaneProps {
  agent: AgentRef;
  session: PlaygroundSession;
  view: ChatView;
}

/** Shows the chat with an agent and the field for the next Message. */
export function ChatPane({ agent, session, view: { chat, busy, error } }: ChatPaneProps) {
  const box = useRef<HTMLDivElement>(null);
  useStickToEnd(box, chat);
  return (
    <div className="flex h-full flex-col">
      <Where agent={agent} view={{ chat, busy }} session={session} />
      <div ref={box} role="log" aria-label="Chat" tabIndex={0} className="min-h-0 grow overflow-auto p-4">
        {chat.entries.length === 0 ? (
          <EmptyState title="Say something">
            {agent.kind === 'remote'
              ? 'The browser cannot call this agent directly. Parley calls it and shows its answers as A2A 1.0, whatever version the agent speaks.'
              : 'The console calls this agent over JSON-RPC (A2A 1.0) and streams its answer.'}
          </EmptyState>
        ) : (
          <ol className="flex flex-col gap-3">
            {chat.entries.map((entry) => (
              <Entry key={entry.key} entry={entry} />
            ))}
          </ol>
        )}
        {busy && (
          <p role="status" className="mt-3 text-sm text-muted-foreground">
            The agent is at work …
          </p>
        )}
      </div>
      {error !== undefined && (
        <p role="alert" className="border-t border-destructive/50 bg-destructive/5 px-4 py-2 text-sm">
          {error}
        </p>
      )}
      <Composer busy={busy} onSend={(parts) => void session.sendParts(parts)} />
    </div>
  );
}

function Where({ agent, session, view }: Omit<ChatPaneProps, 'view'> & { view: Pick<ChatView, 'chat' | 'busy'> }) {
  const { contextId, taskId, state } = view.chat;
  return (
    <div className="flex min-h-11 flex-wrap items-center gap-2 border-b px-4 py-1.5 text-xs text-muted-foreground">
      {state !== undefined && <StatusBadge status={state} />}
      {taskId !== undefined && agent.kind === 'served' && (
        <Link href={`~/tasks/${encodeURIComponent(taskId)}`} className="underline">
          Task
        </Link>
      )}
      {contextId !== undefined && agent.kind === 'served' && (
        <Link href={`~/tasks?context=${encodeURIComponent(contextId)}`} className="underline">
          Context
        </Link>
      )}
      <span className="ml-auto flex gap-2">
        {isAtWork(view.chat) && view.busy && (
          <Button kind="danger" className="py-0.5!" onClick={() => void session.cancelRunningTask()}>
            {agent.kind === 'served' ? 'Cancel the Task' : 'Stop reading'}
          </Button>
        )}
        {contextId !== undefined && (
          <Button className="py-0.5!" onClick={() => session.startNewContext()}>
            New context
          </Button>
        )}
      </span>
    </div>
  );
}

function Entry({ entry: { from, name, parts } }: { entry: ChatEntry }) {
  const person = from === 'person';
  return (
    <li
      data-from={from}
      className={`max-w-[92%] min-w-0 rounded-lg border px-3.5 py-2.5 ${person ? 'self-end border-primary/30 bg-primary/8' : 'self-start bg-card'}`}
    >
      <p className="mb-1 text-xs text-muted-foreground">{person ? 'You' : (name ?? 'Agent')}</p>
      <PartsView parts={parts} />
    </li>
  );
}
