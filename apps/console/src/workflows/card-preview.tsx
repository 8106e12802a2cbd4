import { CircleCheck, CircleX, TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import type { CardCheck } from '../agents/card-report.js';
import { getJson } from '../api/http.js';
import { sentenceOf } from '../api/problem.js';
import { Button } from '../components/button.js';
import { JsonView } from '../components/json-view.js';

const SIGNATURES: Readonly<Record<string, string>> = {
  valid: 'The signature is valid.',
  unsigned: 'The card is not signed.',
  invalid: 'The signature is not valid.',
};

/** Shows the card of an external agent and its problems. */
export function CardPreview({ url }: { url: unknown }) {
  const [shown, setShown] = useState<CardCheck>();
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const address = typeof url === 'string' ? url.trim() : '';
  const fetchPreview = async (): Promise<void> => {
    setBusy(true);
    try {
      setShown(await getJson<CardCheck>(`/api/agent-card?url=${encodeURIComponent(address)}`));
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
      <Button disabled={!/^https?:\/\/./i.test(address) || busy} onClick={() => void fetchPreview()}>
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

function Card({ preview: { card, version, signature, pin, problems } }: { preview: CardCheck }) {
  return (
    <div role="status" className="space-y-2 rounded-md border p-3 text-sm">
      {card && (
        <>
          <p className="font-semibold">
            {card.name} <span className="font-normal text-muted-foreground">{card.version}</span>
          </p>
          <p className="text-muted-foreground">{card.description}</p>
          <p>Skills: {card.skills?.map(({ name, id }) => name || id).join(', ') || 'none'}</p>
          <p className="text-muted-foreground">
            A2A {version}. {signature && (SIGNATURES[signature.state] ?? 'This service cannot verify its signature.')}
            {pin && !pin.same && ' It has changed since it was first called.'}
            {pin?.blocked && ' It is not called until the change is accepted.'}
          </p>
        </>
      )}
      {problems.every(({ level }) => level !== 'error') && (
        <p className="flex items-center gap-1.5 text-success">
          <CircleCheck className="size-4" aria-hidden /> The card is valid.
        </p>
      )}
      <ul className="space-y-1">
        {problems.map(({ level, path, detail }) => (
          <li key={path + detail} className="flex gap-1.5">
            <LevelIcon level={level} />
            <span className="min-w-0 break-words">
              <code>{path}</code> {detail}
            </span>
          </li>
        ))}
      </ul>
      {card && (
        <details>
          <summary>The whole card</summary>
          <JsonView value={card} label="Agent card" />
        </details>
      )}
    </div>
  );
}

function LevelIcon({ level }: { level: string }) {
  const wrong = level === 'error';
  const Icon = wrong ? CircleX : TriangleAlert;
  const tone = wrong ? 'text-destructive' : 'text-warning';
  return <Icon className={`mt-0.5 size-4 shrink-0 ${tone}`} role="img" aria-label={wrong ? 'Error' : 'Warning'} />;
}
