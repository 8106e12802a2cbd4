import { ChevronRight } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { briefText } from './text-start.js';
import { Button } from './button.js';
import { CopyButton } from './json-view.js';

/** Maximum number of members, over all levels, of a value that is shown with all branches open at first. */
const FEW = 30;
/** Maximum members of a branch that are drawn at once. */
const PAGE = 100;
/** Maximum characters of a text that are shown at once. */
const MOST_TEXT = 600;

/**
 * Shows data as a tree whose branches open and close, with a button that copies the JSON. Closed branches are not
 * rendered.
 */
export function DataTree({ value, label = 'Data' }: { value: unknown; label?: string }) {
  return (
    <div className="relative">
      <div className="absolute top-1 right-1">
        <CopyButton text={() => JSON.stringify(value, undefined, 2)} label={`Copy the ${label.toLowerCase()}`} />
      </div>
      <div
        aria-label={label}
        role="region"
        tabIndex={0}
        className="max-h-96 overflow-auto max-md:max-h-none rounded-md border bg-muted/50 p-2 pr-10 font-mono text-xs"
      >
        <Root value={value} />
      </div>
    </div>
  );
}

/** Shows the root of the tree, which is always open. */
function Root({ value }: { value: unknown }) {
  if (typeof value !== 'object' || value === null) return <Leaf value={value} />;
  return <Members value={value} open={isSmall(value)} />;
}

interface ValueProps {
  value: unknown;
  /** Name of the value in its parent. */
  name?: string;
  open: boolean;
}

function Value({ value, name, open }: ValueProps) {
  if (typeof value === 'object' && value !== null) return <Branch value={value} name={name} open={open} />;
  return (
    <p className="flex gap-1.5 py-0.5 pl-4.5">
      <Name name={name} />
      <Leaf value={value} />
    </p>
  );
}

function Branch({ value, name, open }: { value: object; name: string | undefined; open: boolean }) {
  const [shown, setShown] = useState(open);
  if (Object.keys(value).length === 0) {
    return (
      <p className="flex gap-1.5 py-0.5 pl-4.5">
        <Name name={name} />
        <Empty value={value} />
      </p>
    );
  }
  return (
    <div>
      <button
        type="button"
        aria-expanded={shown}
        onClick={() => setShown(!shown)}
        className="flex w-full min-w-0 items-center gap-1 py-0.5 text-left hover:bg-muted"
      >
        <ChevronRight className={`size-3.5 shrink-0 ${shown ? 'rotate-90' : ''}`} aria-hidden />
        <Name name={name} />
        <span className="truncate text-muted-foreground">{shown ? describeCount(value) : summarizeMembers(value)}</span>
      </button>
      {shown && (
        <div className="ml-1.5 border-l pl-2">
          <Members value={value} open={open} />
        </div>
      )}
    </div>
  );
}

function Members({ value, open }: { value: object; open: boolean }) {
  const [most, setMost] = useState(PAGE);
  const members = Object.entries(value);
  if (members.length === 0) return <Empty value={value} />;
  return (
    <ul>
      {members.slice(0, most).map(([key, member]) => (
        <li key={key}>
          <Value value={member} name={key} open={open} />
        </li>
      ))}
      {members.length > most && (
        <li>
          <Button kind="quiet" className="py-0.5! text-xs!" onClick={() => setMost(most + 10 * PAGE)}>
            {members.length - most} more
          </Button>
        </li>
      )}
    </ul>
  );
}

function Empty({ value }: { value: object }) {
  return <span className="text-muted-foreground">{Array.isArray(value) ? '[]' : '{}'}</span>;
}

/** Shows the name of an object's member in quotes, as in JSON, or the index of a list's entry without quotes. */
function Name({ name }: { name: string | undefined }) {
  if (name === undefined) return null;
  return (
    <span className="shrink-0 text-node-agent">{/^\d+$/.test(name) ? `${name}: ` : `${JSON.stringify(name)}: `}</span>
  );
}

function Leaf({ value }: { value: unknown }): ReactNode {
  const [whole, setWhole] = useState(false);
  if (typeof value !== 'string') return <span className="text-node-input">{String(value)}</span>;
  const isCut = !whole && value.length > MOST_TEXT;
  return (
    <span className="min-w-0 break-words whitespace-pre-wrap">
      {isCut ? briefText(value, MOST_TEXT) : value}
      {isCut && (
        <button type="button" className="ml-1.5 underline" onClick={() => setWhole(true)}>
          all of it
        </button>
      )}
    </span>
  );
}

function describeCount(value: object): string {
  const { length } = Object.keys(value);
  return Array.isArray(value) ? `${length} ${length === 1 ? 'entry' : 'entries'}` : '';
}

/** Returns a one-line summary of a value's members. */
function summarizeMembers(value: object): string {
  if (Array.isArray(value)) return `[ ${describeCount(value)} ]`;
  const keys = Object.keys(value);
  return `{ ${keys.slice(0, 5).join(', ')}${keys.length > 5 ? ', …' : ''} }`;
}

/** Counts a value's members over all levels. Stops once the count exceeds `most`. */
function countAllMembers(value: unknown, most = FEW): number {
  if (typeof value !== 'object' || value === null) return 0;
  let size = 0;
  for (const member of Object.values(value)) {
    size += 1 + countAllMembers(member, most - size);
    if (size > most) break;
  }
  return size;
}

function isSmall(value: unknown): boolean {
  return countAllMembers(value) <= FEW;
}
