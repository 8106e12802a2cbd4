import { useEffect, useState, useSyncExternalStore } from 'react';
import { SplitPane } from '../components/split-pane.js';
import { useWideWindow } from '../components/use-wide-window.js';
import type { AgentRef } from './agent-ref.js';
import { ChatPane } from './chat-pane.js';
import { PlaygroundSession } from './chat-session.js';
import { ExchangePane } from './exchange-pane.js';

/** Shows a chat with an agent beside the JSON of every request and answer. */
export function Playground({ agent }: { agent: AgentRef }) {
  const [session] = useState(() => new PlaygroundSession(agent));
  const view = useSyncExternalStore(session.subscribe, session.getView);
  const wide = useWideWindow();
  useEffect(() => () => session.stopReading(), [session]);
  const chat = <ChatPane agent={agent} session={session} view={view} />;
  const exchanges = <ExchangePane agent={agent} exchanges={view.exchanges} />;
  if (wide) {
    return (
      <div className="min-h-0 grow">
        <SplitPane label="Chat and JSON" direction="side" initial={480} name="playground">
          {[chat, exchanges]}
        </SplitPane>
      </div>
    );
  }
  return (
    <>
      <div className="min-h-0 grow">{chat}</div>
      <details className="max-h-[60%] shrink-0 overflow-auto border-t">
        <summary className="bg-card px-4 py-2 text-sm">JSON of every exchange</summary>
        <div className="h-72">{exchanges}</div>
      </details>
    </>
  );
}
