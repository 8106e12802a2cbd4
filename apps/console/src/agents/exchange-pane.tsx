import { EmptyState } from '../components/empty-state.js';
import { JsonView } from '../components/json-view.js';
import { VirtualList } from '../components/virtual-list.js';
import type { AgentRef } from './agent-ref.js';
import type { Exchange } from './chat-session.js';
import type { ExchangeFrame } from './exchange.js';

interface ExchangeLine {
  key: string;
  /** A request, or a frame of the answer to it. */
  kind: 'request' | 'frame';
  title: string;
  json: unknown;
}

const LINE_HEIGHT = 220;
const getLineKey = ({ key }: ExchangeLine): string => key;

/** Shows every request and every frame of the answers as JSON. */
export function ExchangePane({ agent, exchanges }: { agent: AgentRef; exchanges: readonly Exchange[] }) {
  const lines = exchanges.flatMap(listExchangeLines);
  if (lines.length === 0) {
    return (
      <EmptyState title="Nothing was sent yet">
        {agent.kind === 'served'
          ? 'Every request and every frame of its answer will be shown here, as it is.'
          : 'What is asked of Parley, and every item of the answer in the form of A2A 1.0, will be shown here.'}
      </EmptyState>
    );
  }
  return (
    <div className="flex h-full flex-col">
      <VirtualList
        label="JSON of every exchange"
        items={lines}
        keyOf={getLineKey}
        estimate={LINE_HEIGHT}
        render={({ kind, title, json }) => (
          <div data-line={kind} className="px-3 pt-2 pb-1">
            <p className={`mb-1 text-xs font-medium ${kind === 'request' ? 'text-primary' : 'text-muted-foreground'}`}>
              {kind === 'request' ? '→' : '←'} {title}
            </p>
            <JsonView value={json} label={title} />
          </div>
        )}
      />
    </div>
  );
}

function listExchangeLines({ key, request: { method, path, body }, frames }: Exchange): ExchangeLine[] {
  const asked: ExchangeLine = { key, kind: 'request', title: `${method} ${path}`, json: body };
  return [asked, ...frames.map((frame, index) => frameLine(key, frame, index))];
}

function frameLine(key: string, { sequence, item, error, json }: ExchangeFrame, index: number): ExchangeLine {
  const what = error === undefined ? Object.keys(item ?? {})[0] : 'error';
  const number = sequence === undefined ? '' : `, id ${sequence}`;
  return { key: `${key}/${index}`, kind: 'frame', title: `frame ${index + 1}: ${what ?? 'empty'}${number}`, json };
}
