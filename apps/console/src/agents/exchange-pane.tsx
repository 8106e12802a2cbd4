import { EmptyState } from '../components/empty-state.js';
import { JsonView } from '../components/json-view.js';
import { VirtualList } from '../components/virtual-list.js';
import type { AgentRef } from './agent-ref.js';
import type { Exchange } from './chat-session.js';
import type { ExchangeFrame } from './exchange.js';

interface ExchangeLine {
  key: string;
  /** Kind of the entry: a request, or a frame of the answer to a request. */
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
          ? 'Requests and the frames of their answers appear here unchanged.'
          : 'Requests to Parley and the items of their answers, as A2A 1.0, appear here.'}
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
