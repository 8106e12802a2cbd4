import { CircleCheck, TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import { get } from '../api/http.js';
import { sentenceOf } from '../api/problem.js';
import { Button } from '../components/button.js';
import { JsonView } from '../components/json-view.js';

interface Preview {
  url: string;
  card?: { name?: string; description?: string; version?: string; skills?: { id: string; name: string }[] };
  problems: { path: string; detail: string }[];
}

/** The card of an external agent, and what is wrong with it (row E9). */
export function CardPreview({ url }: { url: unknown }) {
  const [shown, setShown] = useState<Preview>();
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const address = typeof url === 'string' ? url.trim() : '';
  const fetchCard = async (): Promise<void> => {
    setBusy(true);
    try {
      setShown(await preview(address));
      setError(undefined);
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  const current = shown?.url === address ? shown : undefined;
  return (
    <section aria-label="Agent card" className="space-y-2">
      <Button disabled={!/^https?:\/\/./i.test(address) || busy} onClick={() => void fetchCard()}>
        {busy ? 'Fetching …' : 'Show the agent card'}
      </Button>
      {error !== undefined && (
        <p role="alert" className="text-sm text-destructive">
          {sentenceOf(error)}
        </p>
      )}
      {current && <Card preview={current} />}
    </section>
  );
}

function Card({ preview: { card, problems } }: { preview: Preview }) {
  return (
    <div role="status" className="space-y-2 rounded-md border p-3 text-sm">
      {card && (
        <>
          <p className="font-semibold">
            {card.name} <span className="font-normal text-muted-foreground">{card.version}</span>
          </p>
          <p className="text-muted-foreground">{card.description}</p>
          <p>Skills: {card.skills?.map(({ name, id }) => name || id).join(', ') || 'none'}</p>
        </>
      )}
      {problems.length === 0 ? (
        <p className="flex items-center gap-1.5 text-success">
          <CircleCheck className="size-4" aria-hidden /> The card is valid.
        </p>
      ) : (
        <ul className="space-y-1">
          {problems.map(({ path, detail }) => (
            <li key={path + detail} className="flex gap-1.5">
              <TriangleAlert className="mt-0.5 size-4 shrink-0 text-warning" aria-hidden />
              <span className="min-w-0 break-words">
                <code>{path}</code> {detail}
              </span>
            </li>
          ))}
        </ul>
      )}
      {card && (
        <details>
          <summary>The whole card</summary>
          <JsonView value={card} label="Agent card" />
        </details>
      )}
    </div>
  );
}

/** The service calls its own agents without a card; theirs are read where everybody finds them. */
async function preview(url: string): Promise<Preview> {
  if (!url.startsWith(`${location.origin}/a2a`)) return get(`/api/agent-card?url=${encodeURIComponent(url)}`);
  const path = new URL(url).pathname.replace(/\/+$/, '');
  return { url, card: await get(`${path}/.well-known/agent-card.json`), problems: [] };
}
